// Comforts that the pages do without when scripts are off.
"use strict";

// Links from before there was a page for each resource: `/docs#listMembers` is on `/docs/members` now. And a link to a
// folded schema opens it.
{
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.dataset.moved) location.replace(target.dataset.moved);
    if (target?.tagName === "DETAILS") target.open = true;
  };
  follow();
  addEventListener("hashchange", follow);
}

// The menu is folded where the screen is narrow.
{
  const menu = document.querySelector(".nav details");
  const narrow = matchMedia("(max-width: 52rem)");
  const fold = () => { menu.open = !narrow.matches; };
  fold();
  narrow.addEventListener("change", fold);
  menu.addEventListener("click", (event) => { if (narrow.matches && event.target.closest("a")) menu.open = false; });
  const nav = document.querySelector(".nav");
  const here = nav.querySelector("[aria-current=page]");
  if (here && !narrow.matches && here.offsetTop > nav.clientHeight * 0.6) nav.scrollTop = here.offsetTop - 80;
}

// Marks the section that is being read.
{
  const links = new Map([...document.querySelectorAll(".nav .sections a")].map((link) => [link.hash.slice(1), link]));
  const headings = [...document.querySelectorAll("main h2[id]")].filter((each) => links.has(each.id));
  const nav = document.querySelector(".nav");
  let current;
  const mark = () => {
    const line = innerHeight * 0.3;
    let now = headings[0];
    for (const heading of headings) if (heading.getBoundingClientRect().top <= line) now = heading;
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 4;
    if (atEnd && headings.length && headings.at(-1).getBoundingClientRect().top < innerHeight) now = headings.at(-1);
    if (!now || now === current) return;
    if (current) links.get(current.id).removeAttribute("aria-current");
    current = now;
    const link = links.get(now.id);
    link.setAttribute("aria-current", "location");
    const box = link.getBoundingClientRect(), frame = nav.getBoundingClientRect();
    if (box.bottom > frame.bottom || box.top < frame.top) nav.scrollTop += box.top - frame.top - frame.height / 2;
  };
  const watch = new IntersectionObserver(mark, { rootMargin: "-10% 0px -65% 0px", threshold: [0, 1] });
  for (const heading of headings) watch.observe(heading);
  for (const row of document.querySelectorAll("main .row")) watch.observe(row);
  addEventListener("scrollend", mark);
  mark();
}

// Tabs: one choice for all samples of all pages.
{
  const NAMES = { curl: "curl", python: "Python", typescript: "TypeScript" };
  const groups = [];
  const refresh = () => {
    const lang = document.documentElement.dataset.lang;
    for (const { tabs } of groups) {
      const chosen = tabs.find((tab) => tab.dataset.lang === lang) ?? tabs[0];
      for (const tab of tabs) {
        tab.setAttribute("aria-selected", tab === chosen);
        tab.tabIndex = tab === chosen ? 0 : -1;
      }
    }
    reach();
  };
  const choose = (lang, at) => {
    const before = at.getBoundingClientRect().top;
    document.documentElement.dataset.lang = lang;
    try { localStorage.setItem("bursar-docs-language", lang); } catch { /* Not remembered then. */ }
    refresh();
    // Blocks above got longer or shorter; the one in hand stays where it is.
    scrollBy({ top: at.getBoundingClientRect().top - before, behavior: "instant" });
  };
  for (const group of document.querySelectorAll(".langs")) {
    const list = document.createElement("div");
    list.className = "tabs";
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Language");
    const tabs = [...group.querySelectorAll(".code")].map((block) => {
      const tab = document.createElement("button");
      tab.type = "button";
      tab.id = `${block.id}-tab`;
      tab.dataset.lang = block.dataset.lang;
      tab.textContent = NAMES[block.dataset.lang];
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", block.id);
      block.setAttribute("role", "tabpanel");
      block.setAttribute("aria-labelledby", tab.id);
      block.querySelector(".caption").setAttribute("aria-hidden", "true");
      tab.addEventListener("click", () => choose(tab.dataset.lang, tab));
      list.append(tab);
      return tab;
    });
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
      choose(next.dataset.lang, next);
      next.focus();
    });
    group.prepend(list);
    groups.push({ tabs });
  }
  // What scrolls can be reached with the keyboard.
  function reach() {
    for (const box of document.querySelectorAll(".code pre, .stick")) {
      const scrolls = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }
  refresh();
  addEventListener("resize", reach);
  addEventListener("storage", (event) => {
    if (event.key === "bursar-docs-language" && NAMES[event.newValue]) {
      document.documentElement.dataset.lang = event.newValue;
      refresh();
    }
  });
}

// Copying a block.
if (navigator.clipboard) {
  for (const block of document.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy: ${block.querySelector("figcaption, .caption").textContent}`);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.querySelector("code").textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.append(button);
  }
}
