// Comforts that the pages do without when scripts are off: links that are folded away where the screen is narrow, copying
// a block of code, and finding an operation.
"use strict";

const aside = document.querySelector(".aside details");
const narrow = matchMedia("(max-width: 52rem)");
const fold = () => { aside.open = !narrow.matches; };
fold();
narrow.addEventListener("change", fold);
// A link that was followed leads into the text, which the open list would hide.
aside.addEventListener("click", (event) => { if (narrow.matches && event.target.closest("a")) fold(); });

for (const figure of document.querySelectorAll("figure.code")) {
  if (!navigator.clipboard) break;
  const label = figure.querySelector("figcaption").textContent;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${label}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(figure.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  figure.append(button);
}

const search = document.querySelector(".search");
if (search) {
  search.hidden = false;
  const input = search.querySelector("input");
  const status = search.querySelector("[role=status]");
  const entries = [...document.querySelectorAll("article.entry")].map((article) => ({
    article,
    link: document.querySelector(`.aside a[href="#${article.querySelector("h3").id}"]`)?.parentElement,
    text: article.textContent.toLowerCase(),
  }));
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const { article, link, text } of entries) {
      const fits = words.every((word) => text.includes(word));
      article.hidden = !fits;
      if (link) link.hidden = !fits;
      if (fits) found += 1;
    }
    status.textContent = words.length ? `${found} of ${entries.length}` : "";
  });
}
