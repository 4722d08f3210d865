
// Search over all pages. The index comes from the server once somebody searches.
{
  const box = document.querySelector(".search");
  const input = box.querySelector("input");
  const list = box.querySelector("#found");
  const count = box.querySelector("#count");
  const root = document.body.dataset.root;
  const MOST = 20;
  let index, options = [], at = -1;
  box.hidden = false;

  const load = async () => {
    index ??= fetch(`${root}docs/search.json`).then((response) => response.json());
    return index;
  };
  input.addEventListener("focus", load, { once: true });

  // Every word must occur. Titles count most, from their start on more.
  const score = (entry, words) => {
    const title = entry.t.toLowerCase(), place = `${entry.p} ${entry.u}`.toLowerCase(), text = entry.x.toLowerCase();
    let sum = 0;
    for (const word of words) {
      if (title === word) sum += 120;
      else if (title.startsWith(word)) sum += 80;
      else if (title.includes(` ${word}`) || title.includes(`.${word}`)) sum += 60;
      else if (title.includes(word)) sum += 40;
      else if (place.includes(word)) sum += 20;
      else if (text.includes(word)) sum += 5;
      else return 0;
    }
    // Operations before headings, headings before fields.
    return sum + (entry.m ? 30 : entry.x ? 15 : 0) - title.length / 100;
  };

  const emphasized = (text, words) => {
    const out = document.createDocumentFragment();
    const found = words.map((word) => [text.toLowerCase().indexOf(word), word.length]).filter(([start]) => start >= 0).sort((a, b) => a[0] - b[0]);
    let end = 0;
    for (const [start, length] of found) {
      if (start < end) continue;
      const mark = document.createElement("mark");
      mark.textContent = text.slice(start, start + length);
      out.append(text.slice(end, start), mark);
      end = start + length;
    }
    out.append(text.slice(end));
    return out;
  };

  // The words around the first one that was found.
  const excerpt = (entry, words) => {
    const at = entry.x.toLowerCase().indexOf(words[0]);
    const start = at < 30 ? 0 : entry.x.lastIndexOf(" ", at - 20) + 1;
    return (start > 0 ? "… " : "") + entry.x.slice(start, start + 110);
  };

  const show = (open) => {
    list.hidden = !open;
    input.setAttribute("aria-expanded", open);
    if (!open) input.removeAttribute("aria-activedescendant");
  };

  const select = (next) => {
    options[at]?.setAttribute("aria-selected", "false");
    at = next;
    const option = options[at];
    if (!option) return;
    option.setAttribute("aria-selected", "true");
    input.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest", behavior: "instant" });
  };

  const search = async () => {
    const asked = input.value;
    const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
    const entries = await load();
    if (input.value !== asked) return;
    if (!words.length) { count.textContent = ""; show(false); return; }
    const found = entries.map((entry) => [score(entry, words), entry]).filter(([points]) => points > 0)
      .sort((a, b) => b[0] - a[0]).slice(0, MOST).map(([, entry]) => entry);
    list.replaceChildren();
    options = [];
    at = -1;
    for (const group of [...new Set(found.map((entry) => entry.g))]) {
      const part = document.createElement("div");
      part.setAttribute("role", "group");
      part.setAttribute("aria-label", group);
      const title = document.createElement("p");
      title.className = "group-title";
      title.textContent = group;
      title.setAttribute("aria-hidden", "true");
      part.append(title);
      for (const entry of found.filter((each) => each.g === group)) {
        const option = document.createElement("a");
        option.id = `found-${options.length}`;
        option.href = root + entry.u;
        option.tabIndex = -1;
        option.setAttribute("role", "option");
        option.setAttribute("aria-selected", "false");
        if (entry.m) {
          const method = document.createElement("span");
          method.className = `method ${entry.m}`;
          method.textContent = entry.m;
          option.append(method, " ");
        }
        const where = document.createElement("span");
        where.className = "where";
        where.append(`${entry.p} `, entry.x ? "· " : "", emphasized(excerpt(entry, words), words));
        option.append(emphasized(entry.t, words), where);
        option.addEventListener("click", () => { show(false); input.blur(); });
        part.append(option);
        options.push(option);
      }
      list.append(part);
    }
    if (!found.length) {
      const none = document.createElement("p");
      none.className = "none";
      none.textContent = "Nothing found.";
      list.append(none);
    }
    count.textContent = found.length === 1 ? "1 result" : `${found.length} results`;
    show(true);
    select(0);
  };

  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (list.hidden) input.value = "";
      show(false);
    } else if (event.key === "ArrowDown" && list.hidden) {
      search();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (options.length) select((at + (event.key === "ArrowDown" ? 1 : -1) + options.length) % options.length);
    } else if (event.key === "Enter" && !list.hidden && options[at]) {
      event.preventDefault();
      options[at].click();
    }
  });
  document.addEventListener("click", (event) => { if (!box.contains(event.target)) show(false); });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select");
    if ((event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) || (event.key === "k" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
}
