"use strict";
const status = document.getElementById("status");
const output = document.getElementById("output");
const look = async () => {
  try {
    const answer = await fetch(status.dataset.state);
    if (!answer.ok) throw new Error(answer.status);
    const state = await answer.json();
    if (state.ended) { location.reload(); return; }
    if (status.textContent !== state.status) status.textContent = state.status;
    if (output.textContent !== state.output) output.textContent = state.output;
  } catch {
    status.textContent = "The server does not answer. It may have been ended on the terminal.";
  }
  setTimeout(look, 1000);
};
if (status && status.dataset.state) setTimeout(look, 300);
for (const block of document.querySelectorAll("pre.copied")) {
  if (!navigator.clipboard) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.textContent);
    button.textContent = "Copied";
  });
  block.after(button);
}
