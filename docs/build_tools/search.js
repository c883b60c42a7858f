// Order of the search results, and their excerpts. Sphinx loads this file after its own script.

// The scores of Sphinx, except that titles with all words of the query come first, then pages of the
// guide, and that long lists, which contain most words, follow the other pages
var Scorer = {
  score: ([page, title, , , score, , kind]) => {
    const query = new URLSearchParams(window.location.search).get("q") ?? "";
    const words = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
    const name = title.toLowerCase();
    const has_all = words.length > 1 && words.every((word) => name.includes(word));
    const of_title = has_all && kind !== "object" ? 50 : 0;
    if (
      ["api/index", "contributing", "changelog"].includes(page)
      || page.startsWith("reference/calibration/")
    )
      return (score + of_title) / 4;
    const is_guide = /^(how_to|tutorials|explanation|reference)\//.test(page);
    return kind !== "object" && is_guide ? score + of_title + 5 : score + of_title;
  },
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
    + "dt.sig, math";
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

  // Pages of classes are the results of many members, one after another, and are parsed once.
  let last = { html: null, page: null };
  function parsed(html) {
    if (html !== last.html)
      last = { html, page: new DOMParser().parseFromString(html, "text/html") };
    return last.page;
  }

  // Kind of an object of Python, and the first sentence of its docstring
  function description_of(signature) {
    const kind = signature.parentElement.classList[1] ?? "object";
    const first = signature.parentElement.querySelector(":scope > dd > p");
    const text = first === null ? "" : words_of(first);
    const sentence = text.match(/^.*?[.:](?=\s\p{Lu}|$)/u)?.[0] ?? text;
    return `${kind[0].toUpperCase()}${kind.slice(1)}. ${sentence}`;
  }

  // The first text with the most of the words, or the first text if the title has all words
  function excerpt(page, words, anchor) {
    const article = page.querySelector("article.bd-article");
    if (article === null) return "";
    const starts = words.map(
      (word) => new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[$()*+./?[\\\]^{|}]/g, "\\$&")}`, "iu"),
    );
    const count = (text) => starts.filter((start) => start.test(text)).length;
    const target = anchor ? article.querySelector(`[id="${CSS.escape(anchor.slice(1))}"]`) : null;
    if (target?.matches("dt.sig")) return description_of(target);
    // The anchor of a module is an empty element at the start of its section.
    const place = target?.matches("span") ? target.parentElement : target;
    const term = place?.matches("dt:not(.sig)") ? place.textContent.replace("#", "").trim() : "";
    const title = (place ?? article).querySelector("h1, h2, h3, h4")?.textContent ?? "";
    const found = place?.matches("dt") ? place.nextElementSibling : (place ?? article);
    const part = found.cloneNode(true);
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

  // Sphinx loads no excerpt of results with a description, which objects of Python have.
  const objects_of = Search.performObjectSearch;
  Search.performObjectSearch = (...words) =>
    objects_of(...words).map((item) => item.map((value, i) => (i === 3 ? null : value)));

  // A page of the API has the same name and excerpt as its object.
  const results_of = Search._performSearch;
  Search._performSearch = (...query) => {
    const found = results_of(...query);
    const objects = new Set(found.filter((item) => item[6] === "object").map((item) => item[1]));
    return found.filter(
      ([page, , , , , , kind]) => kind === "object" || !objects.has(page.split("/").pop()),
    );
  };

  Search.makeSearchSummary = (html, words, anchor) => {
    const shown = document.createElement("p");
    shown.classList.add("context");
    shown.textContent = excerpt(parsed(html), [...words], anchor);
    return shown;
  };
}
