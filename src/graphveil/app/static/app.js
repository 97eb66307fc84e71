"use strict"; // The slider shows the strength that it is on. Without it every strength is listed.
let chosen = null; // what a person chose stays when the page is refreshed
function show() {
  const slider = document.getElementById("slider");
  if (!slider) return;
  const all = slider.dataset.strengths.split(",");
  slider.value = all.indexOf(chosen ?? slider.dataset.first);
  const now = all[slider.value];
  slider.setAttribute("aria-valuetext", `${slider.dataset.parameter} = ${now}`);
  document.getElementById("strength").value = now;
  document.getElementById("shown").textContent = now;
  let found = false;
  for (const one of document.querySelectorAll("[data-point]")) {
    one.classList.toggle("on", one.dataset.point === now);
    found ||= one.dataset.point === now && one.classList.contains("point");
  }
  document.getElementById("pending").hidden = found;
}
document.addEventListener("input", (event) => {
  if (event.target.id !== "slider") return;
  chosen = event.target.dataset.strengths.split(",")[event.target.value];
  show();
});
document.addEventListener("htmx:after:swap", show);
document.documentElement.classList.add("js");
show();
