
// "Try it": sends a request from the page to this server. The token stays in this tab.
{
  const KEY = "bursar-docs-token";
  const kept = () => { try { return sessionStorage.getItem(KEY) ?? ""; } catch { return ""; } };
  const keep = (token) => { try { sessionStorage.setItem(KEY, token); } catch { /* Typed again then. */ } };
  // Also where the page is not served over https, unlike randomUUID.
  const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const made = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };

  for (const box of document.querySelectorAll(".try")) {
    box.hidden = false;
    const form = box.querySelector("form");
    const result = box.querySelector(".try-result");
    const fields = form.elements;
    const isWrite = form.dataset.method !== "GET";
    box.addEventListener("toggle", () => {
      if (fields.token && !fields.token.value) fields.token.value = kept();
      if (fields.key && !fields.key.value) fields.key.value = newKey();
    });
    form.querySelector(".new-key")?.addEventListener("click", () => { fields.key.value = newKey(); });
    fields.token?.addEventListener("change", () => keep(fields.token.value.trim()));
    form.addEventListener("input", () => form.querySelector(".try-confirm")?.remove());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (isWrite) confirm(form, () => send(form, result));
      else send(form, result);
    });
  }

  const confirm = (form, go) => {
    form.querySelector(".try-confirm")?.remove();
    const { method } = form.dataset;
    const really = made("button", { type: "button", class: "really" }, `Send ${method} now`);
    const cancel = made("button", { type: "button" }, "Cancel");
    const key = form.elements.key?.value;
    const box = made("div", { class: "try-confirm", role: "group", "aria-label": "Confirm the request" },
      made("p", {}, made("strong", {}, "This is a real request. "),
        `It changes the organization's data on ${location.host}: ${method} /${target(form)}${key ? `, Idempotency-Key ${key}` : ""}.`),
      made("div", { class: "try-buttons" }, really, cancel));
    form.append(box);
    cancel.addEventListener("click", () => { box.remove(); form.querySelector("[type=submit]").focus(); });
    really.addEventListener("click", () => { box.remove(); go(); });
    really.focus();
  };

  // The path with its parameters, relative to the root of the server.
  const target = (form) => {
    let path = form.dataset.path;
    const query = new URLSearchParams();
    for (const field of form.querySelectorAll("[data-in]")) {
      const value = field.value.trim();
      if (field.dataset.in === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(value));
      else if (value) query.set(field.name, value);
    }
    return query.size ? `${path}?${query}` : path;
  };

  const send = async (form, result) => {
    const { token, key, body } = form.elements;
    const headers = {};
    if (token) { headers.Authorization = `Bearer ${token.value.trim()}`; keep(token.value.trim()); }
    if (key?.value) headers["Idempotency-Key"] = key.value;
    if (body) headers["Content-Type"] = "application/json";
    result.replaceChildren(made("p", {}, "Sending…"));
    const began = performance.now();
    let response, text;
    try {
      response = await fetch(document.body.dataset.root + target(form), { method: form.dataset.method, headers, body: body?.value, credentials: "omit" });
      text = await response.text();
    } catch (error) {
      result.replaceChildren(made("p", {}, made("span", { class: "bad" }, "No response. "), String(error.message)));
      return;
    }
    const milliseconds = Math.round(performance.now() - began);
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* Shown as it came. */ }
    const rows = [...response.headers].map(([name, value]) => made("tr", {}, made("th", { scope: "row" }, made("code", {}, name)), made("td", {}, value)));
    const code = made("code");
    code.append(...coloured(shown));
    result.replaceChildren(
      made("p", {}, made("span", { class: response.ok ? "good" : "bad" }, `${response.status} ${response.statusText}`), ` · ${milliseconds} ms · ${new Blob([text]).size} bytes`),
      made("details", { class: "more" }, made("summary", {}, `${rows.length} headers`), made("table", {}, made("tbody", {}, ...rows))),
      made("figure", { class: "code" }, made("figcaption", {}, "Response"), made("pre", { tabindex: "0" }, code)));
  };

  // The same classes as in the samples: names, texts, words and numbers.
  const coloured = (json) => json.split(/("(?:[^"\\]|\\.)*"\s*:|"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*)/).map((part, i) => {
    if (i % 2 === 0) return part;
    const kind = part.endsWith(":") ? "p" : part.startsWith("\"") ? "s" : /^[tfn]/.test(part) ? "k" : "n";
    return made("span", { class: kind }, part);
  });
}
