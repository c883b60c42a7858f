// Order of the search results, and their excerpts. Sphinx loads this file after its own script.

// The scores of Sphinx, except that long lists, which contain most words, follow the other pages
var Scorer = {
  score: ([page, , , , score]) =>
    ["api/index", "contributing", "changelog"].includes(page)
      || page.startsWith("reference/calibration/")
      ? score / 4
      : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

{
  const LENGTH = 240; // characters of an excerpt
  const NOT_TEXT = ".headerlink, script, style, svg, nav, h1, h2, h3, h4, pre, thead, "
    + ".toctree-wrapper, .sphx-glr-thumbnails, .sphx-glr-download-link-note, .sphx-glr-footer, .sphx-glr-timing, "
    + ".viewcode-link, dt.sig, math";
  const BLOCKS = "p, li, tr, dd";

  const words_of = (element) => element.textContent.replace(/\s+/g, " ").trim();

  // Text of a paragraph, a row of a table, or the first paragraph of a definition with its term
  function text_of(block) {
    if (block.matches("tr")) return [...block.cells].map(words_of).join(" – ");
    const definition = block.matches("dd > p:first-child") ? block.parentElement : block;
    const term = definition.previousElementSibling;
    return definition.matches("dd") && term?.matches(".glossary dt")
      ? `${words_of(term)}: ${words_of(block)}`
      : words_of(block);
  }

  // Texts of the blocks that contain no other blocks
  function texts_of(part) {
    const found = [...part.querySelectorAll(BLOCKS)].filter(
      (block) => block.matches("tr") || (!block.querySelector(BLOCKS) && !block.closest("tr")),
    );
    return found.map(text_of).filter((text) => text.length > 20);
  }

  // About `LENGTH` characters of a text, from the beginning of a sentence or word before `place`
  function cut(text, place) {
    if (text.length <= 1.2 * LENGTH) return text;
    const sentence = text.lastIndexOf(". ", place) + 1;
    const word = place > 80 ? text.indexOf(" ", place - 80) : 0;
    const start = place - sentence <= 120 ? sentence : word;
    let part = text.slice(start).trim();
    if (part.length > LENGTH) part = `${part.slice(0, part.lastIndexOf(" ", LENGTH))} …`;
    return start > 0 && start !== sentence ? `… ${part}` : part;
  }

  // The first text with the most of the words, or the first text if the title has all words
  function excerpt(page, words, anchor) {
    const article = page.querySelector("article.bd-article");
    if (article === null) return "";
    const starts = words.map(
      (word) => new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[^\p{L}\p{N}]/gu, "\\$&")}`, "iu"),
    );
    const count = (text) => starts.filter((start) => start.test(text)).length;
    const place = anchor ? article.querySelector(`[id="${CSS.escape(anchor.slice(1))}"]`) : null;
    const term = place?.matches("dt:not(.sig)") ? place.textContent.replace("#", "").trim() : "";
    const title = (place ?? article).querySelector("h1, h2, h3, h4")?.textContent ?? "";
    const part = place?.matches("dt") ? place.nextElementSibling : (place ?? article);
    part.querySelectorAll(NOT_TEXT).forEach((element) => element.remove());
    const texts = texts_of(part);
    if (term) return `${term}: ${cut(words_of(part), 0)}`;
    if (texts.length === 0) return "";
    const most = Math.max(...texts.map(count));
    const is_of_title = count(title) === words.length || most === 0;
    const first = is_of_title ? 0 : texts.findIndex((text) => count(text) === most);
    const text = texts[first].endsWith(":") ? texts.slice(first, first + 3).join(" ") : texts[first];
    const places = starts.map((start) => text.search(start)).filter((index) => index >= 0);
    return cut(text, is_of_title || places.length === 0 ? 0 : Math.min(...places));
  }

  Search.makeSearchSummary = (html, words, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const shown = document.createElement("p");
    shown.classList.add("context");
    shown.textContent = excerpt(page, [...words], anchor);
    return shown;
  };
}
