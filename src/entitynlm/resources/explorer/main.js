// The page: opening, saving, tabs, stepping, and watching the analysis.

import { ask, attempt, getToken, Refused, setToken } from "./api.js";
import { $, h, notice } from "./dom.js";
import { showEntities } from "./entities.js";
import { showExpectation } from "./expect.js";
import { askToken, openDialog, saveDialog, takeDrop } from "./files.js";
import { choose, emit, isRunning, keepAddress, loadEntities, on, path, setPlace, setText, state } from "./store.js";
import { markRange, showLook } from "./look.js";
import { layText, pane } from "./text.js";

const TABS = { look: ["Look", showLook], entities: ["Entities", showEntities], expect: ["Expect", showExpectation] };

function showTabs() {
  const place = $("#tabs");
  place.replaceChildren(...Object.entries(TABS).map(([id, [title]]) => h("button", {
    type: "button", role: "tab", id: `tab-${id}`, "aria-selected": String(id === state.tab), "aria-controls": "panel",
    tabindex: id === state.tab ? "0" : "-1", onclick: () => choose({ tab: id }, "tab"),
  }, title)));
  $("#panel").setAttribute("aria-labelledby", `tab-${state.tab}`);
}

let showing = 0;
async function showPanel() {
  const own = (showing += 1);
  const panel = $("#panel");
  if (!state.text) return panel.replaceChildren(h("p", { class: "note" }, "Open a text to begin."));
  await TABS[state.tab][1](panel);
  return own === showing;
}

$("#tabs").addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const ids = Object.keys(TABS);
  choose({ tab: ids[(ids.indexOf(state.tab) + by + ids.length) % ids.length] }, "tab");
  $(`#tab-${state.tab}`).focus();
});

// -- what happens when something changes -----------------------------------------------------------------------------------

on("tab", () => {
  document.body.classList.toggle("wide", state.tab === "look");
  showTabs();
  showPanel();
  pane?.mark();
});
on("place", () => {
  $("#at").value = state.at + 1;
  pane?.mark(true);
  if (state.tab === "expect" || state.tab === "entities") showPanel();
});
on("shown", () => {
  markRange();
  if (state.tab !== "look") showPanel();
});
on("range", () => {
  markRange();
  if (state.range) setPlace(Math.max(state.range[0], Math.min(state.at, state.range[1] - 1)));
  showPanel();
});
on("entity", () => {
  pane?.mark();
  if (state.tab === "entities") showPanel();
});
on("text", async () => {
  document.body.classList.toggle("wide", state.tab === "look");
  await layText();
  pane?.mark(true);
  $("#at").max = state.text.tokens;
  $("#at").value = state.at + 1;
  $("#of").textContent = `of ${state.text.tokens.toLocaleString("en")}`;
  document.title = `${state.text.name} – entitynlm explorer`;
  showProgress();
  showPanel();
  listTexts();
  watch();
});
on("progress", () => showProgress());
on("corrected", async () => {
  await refresh();
  watch();
});

async function refresh() {
  await attempt(() => loadEntities());
  await pane?.refresh();
  showProgress();
  showPanel();
}

function showProgress() {
  const { model, state: stage, stage: doing, done, total, failure, undo, redo, log_p: logP } = state.text;
  const place = $("#progress");
  $("#undo").disabled = !undo;
  $("#redo").disabled = !redo;
  $("#undo").title = undo ? `Undo: ${undo}` : "";
  $("#redo").title = redo ? `Redo: ${redo}` : "";
  $("#save").disabled = false;
  const busy = isRunning();
  const stopped = stage === "cancelled" || stage === "failed";
  place.hidden = !busy && !stopped && logP === null;
  const bar = $("progress", place);
  const button = $("button", place);
  const say = (words) => ($("span", place).textContent = words);
  bar.hidden = !busy;
  button.hidden = !busy && !stopped;
  if (busy) {
    if (total) Object.assign(bar, { max: total, value: done });
    else bar.removeAttribute("value");
    const far = total ? `, ${Math.min(done, total).toLocaleString("en")} of ${total.toLocaleString("en")} (${Math.round(100 * Math.min(1, done / total))} %)` : " …";
    say(`${model}: ${stage === "waiting" ? "waiting for its turn …" : doing + far}`);
    button.textContent = "Cancel";
    button.onclick = () => attempt(async () => setText(await ask(`${path()}/cancel`, { method: "POST" })));
  } else if (stopped) {
    say(stage === "failed" ? `${model} failed: ${failure}` : `${model} was stopped.`);
    button.textContent = "Go on";
    button.onclick = () => attempt(async () => { setText(await ask(`${path()}/measure`, { method: "POST" })); watch(); });
  } else if (logP !== null) say(`log P = ${logP.toFixed(1)} nats${change(logP)}`);
}

let before = null; // log P of the text, and the one before it
function change(value) {
  if (before?.text !== state.text.id) before = { text: state.text.id, value, from: value };
  else if (before.value !== value) before = { ...before, value, from: before.value };
  const by = value - before.from;
  return by ? ` (${by > 0 ? "+" : "−"}${Math.abs(by).toFixed(1)} by the last correction)` : "";
}

// Ask how far the analysis is, until it is done.
let watching = 0;
async function watch() {
  const own = (watching += 1);
  const seen = () => [state.text.version, state.text.annotated, state.text.measured].join();
  while (own === watching && isRunning()) {
    await new Promise((done) => setTimeout(done, 350));
    const earlier = seen();
    const { id } = state.text;
    const info = await attempt(() => ask(`/texts/${id}`));
    if (own !== watching || !info || state.text.id !== id) return;
    setText(info);
    if (seen() !== earlier) await refresh();
  }
}

// -- opening and saving ----------------------------------------------------------------------------------------------------

export async function openText(info) {
  setText(info);
  (info.remarks || []).forEach((remark) => notice(remark));
}

async function listTexts() {
  const found = await attempt(() => ask("/texts"));
  if (!found) return;
  const select = $("#texts");
  select.replaceChildren(...found.map((one) => h("option", { value: one.id, selected: one.id === state.text?.id }, `${one.name} (${one.tokens.toLocaleString("en")} words)`)));
}
$("#texts").addEventListener("change", (event) => attempt(async () => openText(await ask(`/texts/${event.target.value}`))));
$("#open").addEventListener("click", () => openDialog(openText));
$("#save").addEventListener("click", () => saveDialog());
const move = (by) => attempt(async () => { setText(await ask(`${path()}/moves?by=${by}`, { method: "POST" })); emit("corrected"); });
$("#undo").addEventListener("click", () => move(-1));
$("#redo").addEventListener("click", () => move(1));
$("#stepper").addEventListener("click", (event) => event.target.dataset.step && setPlace(state.at + Number(event.target.dataset.step)));
$("#at").addEventListener("change", (event) => setPlace(Number(event.target.value) - 1));
takeDrop(openText);

for (const [id, name] of [["colours", "entities-shown"], ["shading", "surprisal-shown"]]) {
  const apply = () => document.body.classList.toggle(name, $(`#${id}`).checked);
  $(`#${id}`).addEventListener("change", apply);
  apply();
}
const theme = $("#theme");
theme.value = localStorage.getItem("explorer-theme") || "";
const applyTheme = () => (theme.value ? (document.documentElement.dataset.theme = theme.value) : delete document.documentElement.dataset.theme);
theme.addEventListener("change", () => { localStorage.setItem("explorer-theme", theme.value); applyTheme(); });
applyTheme();

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, dialog");
  if (typing || !state.text) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
    event.preventDefault();
    move(event.shiftKey ? 1 : -1);
  } else if (event.target === document.body && ["ArrowRight", "ArrowLeft"].includes(event.key)) {
    event.preventDefault();
    setPlace(state.at + (event.key === "ArrowRight" ? 1 : -1));
  }
});

// -- start -------------------------------------------------------------------------------------------------------------------

async function start() {
  const hash = new URLSearchParams(location.hash.slice(1));
  if (hash.get("token")) setToken(hash.get("token"));
  showTabs();
  showPanel();
  if (!getToken()) return askToken(start);
  try {
    state.about = await ask("/about");
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return askToken(start);
    throw error;
  }
  const id = hash.get("text");
  if (!id) {
    await listTexts();
    keepAddress();
    return openDialog(openText);
  }
  const info = await attempt(() => ask(`/texts/${encodeURIComponent(id)}`));
  if (!info) return openDialog(openText);
  if (hash.get("tab") in TABS) state.tab = hash.get("tab");
  if (hash.get("by") === "mentions") state.by = "mentions";
  const at = hash.has("at") ? Number(hash.get("at")) : info.begin;
  Object.assign(state, { text: info, at, entity: hash.get("entity"), range: hash.get("range")?.split("-").map(Number) || null });
  showTabs();
  emit("text");
  return keepAddress();
}

addEventListener("hashchange", () => new URLSearchParams(location.hash.slice(1)).get("text") !== state.text?.id && start());
start();
