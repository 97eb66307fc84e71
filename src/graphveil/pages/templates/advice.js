"use strict";
document.querySelectorAll("form[data-slider]").forEach((form) => {
  const range = form.querySelector("input");
  const points = [...document.querySelectorAll(`tr[data-of="${form.dataset.slider}"]`)];
  const show = () => {
    const at = points[Number(range.value)].dataset;
    const name = form.querySelector("label").firstChild.textContent;
    form.querySelector("output").textContent = at.value;
    range.setAttribute("aria-valuetext", `${name}${at.value}: kept ${at.kept}; re-identified ${at.found}`);
    form.querySelectorAll("[data-part]").forEach((part) => { part.textContent = at[part.dataset.part]; });
  };
  range.hidden = false;
  range.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
});
