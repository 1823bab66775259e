// The search of the documentation: every word that somebody types has to be in a section, at the beginning of a word.
// The index is a script beside this one, which is fetched when the field is first used.
"use strict";

(() => {
  const root = new URL(".", document.currentScript.src);
  const form = document.querySelector("form.search");
  const field = form.querySelector("input");
  const found = form.querySelector("#found");
  const most = 12;
  let loading;

  const fold = (text) => text.normalize("NFKD").toLowerCase();

  // load resolves with the index, prepared for comparing.
  function load() {
    loading ??= new Promise((resolve, reject) => {
      const index = document.createElement("script");
      index.src = new URL("search-index.js", root);
      index.onload = () => resolve(window.zonefoldIndex.map((entry) => ({
        ...entry,
        in: { page: fold(" " + entry.page), heading: fold(" " + entry.heading), text: fold(" " + entry.text) },
      })));
      index.onerror = () => reject(new Error("the index cannot be loaded"));
      document.head.append(index);
    });
    return loading;
  }

  const begins = (text, word) => {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      if (!/[\p{L}\p{N}]/u.test(text[at - 1] ?? " ")) return true;
    }
    return false;
  };

  // score says how well a section fits, and 0 if a word is nowhere in it.
  function score(entry, words) {
    let sum = 0;
    for (const word of words) {
      if (begins(entry.in.heading, word)) sum += 9;
      else if (begins(entry.in.page, word)) sum += 4;
      else if (begins(entry.in.text, word)) sum += 1;
      else return 0;
    }
    if (entry.in.heading.trim() === words.join(" ")) sum += 20;
    return sum;
  }

  // around returns the part of a text that has the first word.
  function around(text, word) {
    const at = Math.max(0, fold(text).indexOf(word) - 40);
    return (at > 0 ? "… " : "") + text.slice(at, at + 140) + (at + 140 < text.length ? " …" : "");
  }

  async function search() {
    const query = fold(field.value).trim();
    if (query.length < 2) {
      found.hidden = true;
      return;
    }
    const words = query.split(/\s+/);
    const index = await load();
    const hits = index.map((entry) => [score(entry, words), entry]).filter(([points]) => points > 0)
      .sort((a, b) => b[0] - a[0]);
    const list = document.createElement("ul");
    for (const [, entry] of hits.slice(0, most)) {
      const link = document.createElement("a");
      link.href = new URL(entry.url, root);
      link.textContent = entry.heading === entry.page ? entry.page : `${entry.page}: ${entry.heading}`;
      const text = document.createElement("p");
      text.textContent = around(entry.text, words[0]);
      const item = document.createElement("li");
      item.append(link, text);
      list.append(item);
    }
    const count = document.createElement("p");
    count.textContent = hits.length === 0 ? "Nothing found." : `${hits.length} found` +
      (hits.length > most ? `, the best ${most} are shown.` : ".");
    found.replaceChildren(count, list);
    found.hidden = false;
  }

  form.hidden = false;
  field.addEventListener("focus", () => load().catch(() => {}));
  field.addEventListener("input", () => search().catch((error) => {
    found.textContent = `The search does not work: ${error.message}.`;
    found.hidden = false;
  }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    found.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") found.hidden = true;
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      field.focus();
    }
  });
  // A narrow screen begins with the page, not with the menu.
  if (window.matchMedia("(max-width: 60rem)").matches) document.querySelector("details.menu").open = false;
})();
