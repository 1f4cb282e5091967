// The page: opening, saving, tabs, stepping, and watching the analysis.

import { ask, attempt, getToken, Refused, setToken } from "./api.js";
import { $, h, notice } from "./dom.js";
import { showEntities } from "./entities.js";
import { showExpectation } from "./expect.js";
import { askToken, openDialog, saveDialog, takeDrop } from "./files.js";
import { analysis, choose, emit, keepAddress, loadEntities, on, path, setPlace, setText, state } from "./store.js";
import { showCompare } from "./compare.js";
import { markRange, showLook } from "./look.js";
import { layPanes, panes } from "./text.js";
import { showWrite } from "./write.js";

const TABS = {
  expect: ["Expect", showExpectation], entities: ["Entities", showEntities], look: ["Look", showLook],
  compare: ["Compare", showCompare], write: ["Write", showWrite],
};

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
  showTabs();
  showPanel();
  panes.forEach((pane) => pane.mark());
});
on("place", () => {
  $("#at").value = state.at + 1;
  panes.forEach((pane) => pane.mark(true));
  if (state.tab === "expect" || state.tab === "entities") showPanel();
});
on("shown", () => {
  markRange();
  showPanel();
});
on("range", () => {
  markRange();
  if (state.range) setPlace(Math.max(state.range[0], Math.min(state.at, state.range[1] - 1)));
  showPanel();
});
on("panes", async () => {
  await layPanes();
  showProgress();
  showPanel();
});
on("watch", () => watch());
on("entity", () => {
  panes.forEach((pane) => pane.mark());
  if (state.tab === "entities") showPanel();
});
on("text", async () => {
  await layPanes();
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
  await Promise.all(panes.map((pane) => pane.refresh()));
  showProgress();
  showPanel();
}

function showProgress() {
  const own = analysis();
  const place = $("#progress");
  $("#undo").disabled = !own?.undo;
  $("#redo").disabled = !own?.redo;
  $("#undo").title = own?.undo ? `Undo: ${own.undo}` : "";
  $("#redo").title = own?.redo ? `Redo: ${own.redo}` : "";
  $("#save").disabled = !own;
  const busy = state.text?.analyses.find((one) => one.state === "running" || one.state === "waiting");
  const stopped = state.text?.analyses.find((one) => one.state === "cancelled" || one.state === "failed");
  place.hidden = !busy && !stopped && own?.log_p === null;
  const bar = $("progress", place);
  const button = $("button", place);
  bar.hidden = !busy;
  if (busy) {
    if (busy.total) Object.assign(bar, { max: busy.total, value: busy.done });
    else bar.removeAttribute("value");
    $("span", place).textContent = `${busy.model}: ${busy.state === "waiting" ? "waiting" : busy.stage} …`;
    button.textContent = "Cancel";
    button.onclick = () => attempt(async () => setText(await ask(`${path(busy.number)}/cancel`, { method: "POST" })));
  } else if (stopped) {
    $("span", place).textContent = stopped.state === "failed" ? `${stopped.model} failed: ${stopped.message}` : `${stopped.model} was stopped.`;
    button.textContent = "Go on";
    button.onclick = () => attempt(async () => { setText(await ask(`${path(stopped.number)}/measure`, { method: "POST" })); watch(); });
  } else if (own?.log_p !== null) {
    $("span", place).textContent = `log P = ${own.log_p.toFixed(1)} nats${change(own.log_p)}`;
  }
  button.hidden = !busy && !stopped;
}

let before = null;
function change(value) {
  if (before && before.text === state.text.id && before.number === state.number && before.value !== value) {
    before = { ...before, value, from: before.value };
  } else if (!before || before.text !== state.text.id || before.number !== state.number) {
    before = { text: state.text.id, number: state.number, value, from: null };
  }
  if (before.from === null || before.from === undefined) return "";
  const by = value - before.from;
  return ` (${by >= 0 ? "+" : "−"}${Math.abs(by).toFixed(1)} by the last correction)`;
}

// Ask how far the analysis is, until it is done.
let watching = 0;
async function watch() {
  const own = (watching += 1);
  const seen = () => state.text.analyses.map((one) => `${one.version} ${one.annotated} ${one.measured}`).join();
  while (own === watching && state.text?.analyses.some((one) => one.state === "running" || one.state === "waiting")) {
    await new Promise((done) => setTimeout(done, 350));
    const earlier = seen();
    const id = state.text.id;
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
  select.replaceChildren(...found.texts.map((one) => h("option", { value: one.id, selected: one.id === state.text?.id }, `${one.name} (${one.tokens.toLocaleString("en")} words)`)));
  if (found.dropped.length) notice(`Closed to make room: ${found.dropped[found.dropped.length - 1]}.`);
}
$("#texts").addEventListener("change", (event) => attempt(async () => openText(await ask(`/texts/${event.target.value}`))));
$("#open").addEventListener("click", () => openDialog(openText));
$("#save").addEventListener("click", () => saveDialog());
const move = (what) => attempt(async () => { setText(await ask(`${path()}/${what}`, { method: "POST" })); emit("corrected"); });
$("#undo").addEventListener("click", () => move("undo"));
$("#redo").addEventListener("click", () => move("redo"));
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
    move(event.shiftKey ? "redo" : "undo");
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
  const wanted = { number: Number(hash.get("analysis") || 1), beside: Number(hash.get("beside")) || null, at: Number(hash.get("at") || 0) };
  if (hash.get("tab") in TABS) state.tab = hash.get("tab");
  if (hash.get("by") === "mentions") state.by = "mentions";
  state.text = info;
  Object.assign(state, wanted, { entity: hash.get("entity"), range: hash.get("range")?.split("-").map(Number) || null });
  if (!analysis()) state.number = info.analyses[0].number;
  if (state.beside && !analysis(state.beside)) state.beside = null;
  showTabs();
  emit("text");
  return keepAddress();
}

addEventListener("hashchange", () => new URLSearchParams(location.hash.slice(1)).get("text") !== state.text?.id && start());
start();
