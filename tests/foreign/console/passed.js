// Pages that stories come through and no link leads to: previews, forms with errors, secrets, the ways in. What stood there is
// kept, and looked at with all other pages.

const { LOOK } = process.env;
const passed = new Map();

/** `/console/org_…/members/mem_…?q=x` is of the kind `members/{}`. */
export function kind(url) {
  const parts = new URL(url).pathname.split("/").slice(3);
  return parts.map((part) => (/^[a-z]+_[0-9a-z]{26}$/.test(part) ? "{}" : part)).join("/");
}

/** Keeps a page, one of each kind: by its address, its heading and whether something is wrong in it. */
export async function pass(page, heading) {
  if (!LOOK) return;
  const wrong = await page.locator(".error, .problem").count();
  const name = `${kind(page.url())} "${heading.replaceAll(/\d[\d,.]*/g, "#").slice(0, 40)}"${wrong > 0 ? " with an error" : ""}`;
  if (!passed.has(name)) passed.set(name, { path: new URL(page.url()).pathname, html: await page.content() });
}

export function passedPages() {
  return passed;
}
