// Names for screen readers, which the theme and the gallery leave out.
document.addEventListener("DOMContentLoaded", () => {
  for (const fold of document.querySelectorAll("summary:has(.toctree-toggle)")) {
    fold.ariaLabel = "Show the pages below";
  }
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a.reference")) {
    link.ariaLabel = link.textContent;
  }
});
