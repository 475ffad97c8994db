"use strict";
(() => {
  const rows = [...document.querySelectorAll("main > details")];
  const search = document.getElementById("search");
  const unexpected = document.getElementById("unexpected");
  const boxes = [...document.querySelectorAll("input[name=status]")];
  const shown = document.getElementById("shown");
  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const statuses = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    let count = 0;
    for (const row of rows) {
      const keep =
        statuses.has(row.dataset.status) &&
        (!unexpected.checked || row.dataset.outcome !== "expected") &&
        words.every((word) => row.dataset.text.includes(word));
      row.hidden = !keep;
      count += keep;
    }
    shown.textContent = `${count} of ${rows.length} shown`;
  };
  for (const input of [search, unexpected, ...boxes]) input.addEventListener("input", apply);
  for (const button of document.querySelectorAll("button[data-search]")) {
    button.addEventListener("click", () => {
      search.value = button.dataset.search;
      apply();
    });
  }
  apply();
})();
