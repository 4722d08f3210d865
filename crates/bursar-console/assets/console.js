// Makes pages smoother. Everything works without it.
"use strict";

// What htmx could not do is said; a session that has ended leads to the sign-in by itself.
const say = (text) => {
  let toast = document.getElementById("failed");
  if (!text) { toast?.remove(); return; }
  if (!toast) {
    toast = document.createElement("div");
    toast.id = "failed";
    toast.className = "toast failed";
    toast.setAttribute("role", "alert");
    document.getElementById("content").prepend(toast);
  }
  toast.textContent = text;
};
document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.successful) say(""); });
document.addEventListener("htmx:sendError", () => say("The server cannot be reached. What you see may be old. Try again in a moment."));
document.addEventListener("htmx:responseError", (event) => {
  const { xhr } = event.detail;
  if (xhr.getResponseHeader("HX-Redirect")) return;
  say(xhr.status === 429 ? "Too many requests. Wait a moment, then go on." : `That did not work (${xhr.status}). Reload the page.`);
});

// A form is sent once. Forms about money have a field named "method", which form.method would be.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.getAttribute("method") !== "post" || event.defaultPrevented) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
// The back button shows a page as it was left.
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// The menu is open where there is room for it.
const menu = document.getElementById("menu");
const isWide = matchMedia("(min-width: 900px)");
const fit = () => { if (menu) menu.open = isWide.matches; };
isWide.addEventListener("change", fit);
fit();

// Passkeys: the browser answers what the server asks, and the form sends the answer.
for (const form of document.querySelectorAll("[data-passkey]")) {
  if (!window.PublicKeyCredential?.parseCreationOptionsFromJSON) continue;
  form.hidden = false;
  const problem = form.querySelector("[role=alert]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.hidden = true;
    try {
      const response = await fetch(form.dataset.passkey, { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" } });
      if (response.status === 403) { location.href = `/console/confirm?to=${location.pathname}`; return; }
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      const { publicKey } = await response.json();
      const credential = publicKey.user
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
      form.elements.answer.value = JSON.stringify(credential.toJSON());
      form.submit();
    } catch (error) {
      problem.textContent = `That did not work (${error.message}). Try again, or use a code.`;
      problem.hidden = false;
    }
  });
}

// The browser knows the time zone.
const zone = document.querySelector("[data-zone]");
if (zone && zone.value === zone.defaultValue && zone.value === "UTC") {
  zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || zone.value;
}

// Pages that are meant for paper.
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

// Copies a secret.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

// Keys: "/" and Ctrl K go to the search, "g" and a letter to a page, "?" lists them.
const GO = { o: "Overview", m: "Members", g: "Groups", c: "Charges", i: "Money in", b: "Bank", j: "Journal", r: "Reminders" };
const search = () => {
  const field = document.querySelector("input[type=search]");
  if (field) { field.focus(); field.select(); }
  return field;
};
const listKeys = () => {
  let dialog = document.getElementById("keys");
  if (!dialog) {
    dialog = document.createElement("dialog");
    dialog.id = "keys";
    dialog.setAttribute("aria-labelledby", "keys-title");
    dialog.innerHTML = '<h2 id="keys-title">Keys</h2><div id="keys-list"></div><form method="dialog"><button class="plain">Close</button></form>';
    document.body.append(dialog);
    htmx.ajax("GET", "/console/keys", { target: "#keys-list", source: dialog });
  }
  if (!dialog.open) dialog.showModal();
};
let went = 0;
document.addEventListener("keydown", (event) => {
  const { key } = event;
  if (key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey) {
    if (search()) event.preventDefault();
    return;
  }
  const { activeElement: at } = document;
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName) || at.closest("dialog")) return;
  const isGoing = event.timeStamp - went < 1500;
  went = 0;
  if (isGoing && Object.hasOwn(GO, key)) {
    const links = document.querySelectorAll("#menu nav a");
    const link = [...links].find((a) => a.textContent.trim() === GO[key]);
    if (link) { event.preventDefault(); link.click(); }
  } else if (key === "g") went = event.timeStamp;
  else if (key === "/") { if (search()) event.preventDefault(); }
  else if (key === "?" && window.htmx && document.getElementById("menu")) { event.preventDefault(); listKeys(); }
});
for (const link of document.querySelectorAll("[data-keys]")) {
  link.addEventListener("click", (event) => { if (window.htmx) { event.preventDefault(); listKeys(); } });
}
