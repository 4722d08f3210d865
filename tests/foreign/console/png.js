// Makes a picture of a page small: a page has few colours, so a palette of 256 keeps it as it is to the eye.
import { deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const COLOURS_MAX = 256;

/** Reads what Chromium writes: 8 bits, with or without opacity, not interlaced. */
function decode(file) {
  let [at, data] = [SIGNATURE.length, []];
  let width, height, channels;
  while (at < file.length) {
    const length = file.readUInt32BE(at);
    const kind = file.toString("latin1", at + 4, at + 8);
    const body = file.subarray(at + 8, at + 8 + length);
    if (kind === "IHDR") [width, height, channels] = [body.readUInt32BE(0), body.readUInt32BE(4), { 2: 3, 6: 4 }[body[9]]];
    if (kind === "IDAT") data.push(body);
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(data));
  const stride = width * channels;
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const left = x < channels ? 0 : pixels[y * stride + x - channels];
      const above = y === 0 ? 0 : pixels[(y - 1) * stride + x];
      const corner = x < channels || y === 0 ? 0 : pixels[(y - 1) * stride + x - channels];
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter];
      pixels[y * stride + x] = raw[y * (stride + 1) + 1 + x] + guess;
    }
  }
  return { width, height, channels, pixels };
}

function paeth(left, above, corner) {
  const [a, b, c] = [Math.abs(above - corner), Math.abs(left - corner), Math.abs(left + above - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}

/** The colours that are used most; each other one becomes the nearest of them. */
export function withFewColours(file) {
  const { width, height, channels, pixels } = decode(file);
  const colour = (at) => (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
  const counts = new Map();
  for (let at = 0; at < pixels.length; at += channels) counts.set(colour(at), (counts.get(colour(at)) ?? 0) + 1);
  const palette = [...counts].sort((one, other) => other[1] - one[1] || one[0] - other[0]).slice(0, COLOURS_MAX).map(([value]) => value);
  const parts = (value) => [value >> 16, (value >> 8) & 255, value & 255];
  const places = new Map(palette.map((value, place) => [value, place]));
  const nearest = (value) => {
    const wanted = parts(value);
    const far = palette.map((other) => parts(other).reduce((sum, part, at) => sum + (part - wanted[at]) ** 2, 0));
    return far.indexOf(Math.min(...far));
  };
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const value = colour((y * width + x) * channels);
      if (!places.has(value)) places.set(value, nearest(value));
      lines[y * (width + 1) + 1 + x] = places.get(value);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const chunks = [chunk("IHDR", head), chunk("PLTE", Buffer.from(palette.flatMap(parts))), chunk("IDAT", deflateSync(lines, { level: 9 })), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

function crc32(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

function chunk(kind, body) {
  const named = Buffer.concat([Buffer.from(kind, "latin1"), body]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(body.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
