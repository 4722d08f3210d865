// Before the page is painted: which language the samples show. Without scripts all of them are shown.
"use strict";
document.documentElement.dataset.lang = (() => {
  try {
    const kept = localStorage.getItem("bursar-docs-language");
    return ["curl", "python", "typescript"].includes(kept) ? kept : "curl";
  } catch {
    return "curl";
  }
})();
