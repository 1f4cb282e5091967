// Dialogs: open a text, save what was done, and the token where it is missing.

import { ask, attempt, setToken } from "./api.js";
import { $, download, h, notice } from "./dom.js";
import { on, path, state } from "./store.js";

function show(title, ...content) {
  const dialog = $("#dialog");
  dialog.replaceChildren(
    h("h2", { id: "dialog-title" }, title),
    ...content.filter(Boolean),
    h("p", { class: "said", role: "status" }),
    h("p", { class: "row end" }, h("button", { type: "button", onclick: () => dialog.close() }, "Close")));
  if (!dialog.open) dialog.showModal();
  return dialog;
}

const close = () => $("#dialog").close();

export function openDialog(opened) {
  const text = h("textarea", { id: "paste", rows: "7", "aria-label": "Text", placeholder: "Type or paste a text" });
  const file = h("input", { type: "file", id: "file", "aria-label": "File" });
  const done = async (action) => {
    const info = await attempt(action);
    if (info) {
      close();
      opened(info);
    }
  };
  const paste = () => done(() => ask("/texts", { method: "POST", json: { text: text.value } }));
  const example = (id) => () => done(() => ask("/texts", { method: "POST", json: { example: id } }));
  file.addEventListener("change", () => file.files[0] && done(() => sendFile(file.files[0])));
  show("Open a text",
    h("p", {}, text),
    h("p", { class: "row" }, h("button", { type: "button", id: "read", class: "main", onclick: paste }, "Read it")),
    h("p", { class: "row" }, h("label", {}, "or a file in any readable format: ", file)),
    h("p", { class: "row" }, "or an example: ", (state.about?.examples || []).map((one) => h("button", { type: "button", onclick: example(one.id) }, one.title))));
}

async function sendFile(file) {
  const content = await file.arrayBuffer();
  const query = new URLSearchParams({ name: file.name });
  return ask(`/files?${query}`, { method: "POST", body: content });
}

export function takeDrop(opened) {
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    const text = event.dataTransfer.getData("text/plain");
    const info = await attempt(() => (file ? sendFile(file) : ask("/texts", { method: "POST", json: { text } })));
    if (info) {
      if ($("#dialog").open) close();
      opened(info);
    }
  });
}

async function fetchFile(url) {
  const answer = await attempt(() => ask(url, { raw: true }));
  if (!answer) return;
  const name = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") || "")?.[1] || "file";
  download(name, await answer.blob());
}

export function saveDialog() {
  const { formats } = state.about;
  const format = h("select", { "aria-label": "Format", id: "format" }, formats.map((one) => h("option", { value: one.name, selected: one.name === "jsonl" }, `${one.name}: ${one.description}`)));
  const link = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      notice("The link is copied. It works as long as the explorer runs.");
    } catch {
      notice(`The link is in the address bar; it works as long as the explorer runs.`);
    }
  };
  const button = (text, call, id) => h("button", { type: "button", onclick: call, id }, text);
  show("Save",
    h("h3", {}, "The annotation, which Open… takes back"),
    h("p", { class: "row" }, format, button("Save the annotation", () => fetchFile(`${path()}/export?format=${format.value}`), "save-annotation")),
    h("h3", {}, "Tables (TSV)"),
    h("p", { class: "row" }, button("Cast", () => fetchFile(`${path()}/export?format=cast`), "save-cast"), button("Quotations", () => fetchFile(`${path()}/export?format=quotations`), "save-quotations"), button("Words and surprisal", () => fetchFile(`${path()}/export?format=tokens`), "save-tokens"), button("Mentions and referents", () => fetchFile(`${path()}/export?format=mentions`), "save-mentions")),
    h("p", { class: "row" }, button("Copy a link to what is shown", link, "copy-link")),
    h("p", { class: "note", id: "unmeasured", hidden: state.text.measured }, "Surprisal of this version is still being measured: its columns in the tables of words and mentions are empty until then. All else is whole."),
    h("p", { class: "note" }, `The mentions are those of ${state.text.model}${state.text.undo ? ", corrected" : ""}.`));
}

// A correction may be answered while the dialog is open.
on("progress", () => $("#unmeasured") && ($("#unmeasured").hidden = state.text.measured));

export function askToken(again) {
  const token = h("input", { "aria-label": "Token", autocomplete: "off" });
  const use = (event) => {
    event.preventDefault();
    const found = token.value.trim().replace(/^.*token=/, "").replace(/&.*$/, "");
    setToken(found);
    const hash = new URLSearchParams(location.hash.slice(1));
    hash.set("token", found);
    history.replaceState(null, "", `#${hash}`);
    close();
    again();
  };
  show("Which start is this?",
    h("p", {}, "The address that the terminal printed has a token in it. Open that address, or paste it here."),
    h("form", { class: "row", onsubmit: use }, token, h("button", { type: "submit", class: "main" }, "Go on")));
}
