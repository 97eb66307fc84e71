"use strict";
const figures = JSON.parse(document.getElementById("figures").textContent);
const form = document.getElementById("filter");
const field = form.querySelector("input");
const said = form.querySelector("output");
const numbers = [...document.querySelectorAll("tr[data-s]")].map((row) => row.dataset.s);
const form_of = /^\s*(.+?)\s*(<=|>=|≤|≥)\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(%?)\s*$/;

function read(text) {
  const match = form_of.exec(text);
  if (!match) throw `“${text.trim()}” cannot be read. Use, for example: kept >= 0.9`;
  const [question, ...part] = match[1].split(":");
  const name = [question.trim().toLowerCase(), part.join(":").trim()].filter(Boolean).join(": ");
  if (!Object.hasOwn(figures, name)) throw `This page has no figure “${name}”.`;
  const value = Number(match[3]) / (match[4] ? 100 : 1);
  const most = match[2] === "<=" || match[2] === "≤";
  return (row) => {
    const figure = figures[name][row];
    return figure !== null && (most ? figure <= value : figure >= value);
  };
}

function filter() {
  let bounds = [];
  let problem = "";
  try {
    bounds = field.value.split(";").filter((text) => text.trim()).map(read);
  } catch (words) {
    problem = String(words);
    bounds = [];
  }
  let kept = 0;
  numbers.forEach((number, row) => {
    const keeps = bounds.every((bound) => bound(row));
    kept += keeps;
    document.querySelectorAll(`[data-s="${number}"]`).forEach((one) => one.classList.toggle("out", !keeps));
  });
  said.textContent = problem || (bounds.length ? `${kept} of ${numbers.length} points meet the bounds.` : "");
}

form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
field.addEventListener("input", filter);
