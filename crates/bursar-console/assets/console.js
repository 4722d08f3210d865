// Makes pages smoother. Everything works without it.
"use strict";

// Lists that filter as you type: the form is sent when typing pauses.
for (const input of document.querySelectorAll("[data-filter]")) {
  let pause;
  input.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(async () => {
      const form = input.form;
      const url = new URL(form.action);
      url.search = new URLSearchParams(new FormData(form)).toString();
      const response = await fetch(url, { credentials: "same-origin" });
      if (!response.ok || response.redirected) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const rows = page.getElementById("rows");
      if (rows) document.getElementById("rows").replaceWith(rows);
      history.replaceState(null, "", url);
    }, 200);
  });
}

// A form is sent once.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
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

// "/" goes to the search.
document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
    const search = document.querySelector("input[type=search]");
    if (search) { event.preventDefault(); search.focus(); }
  }
});
