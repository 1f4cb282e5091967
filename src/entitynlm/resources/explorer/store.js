// What is shown: a text, one of its analyses (perhaps another beside it), a place in it, a selection. Views listen to changes.

import { ask, getToken } from "./api.js";

// Okabe and Ito's colours, which the colour-blind can tell apart; beyond seven entities the line under a mention changes.
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f"];
const LINES = ["solid", "dotted", "dashed", "double"];

export const state = {
  about: null, text: null, number: 1, beside: null, at: 0, selection: null, by: "words", tab: "expect",
  entities: [], entity: null, range: null,
};

const listeners = new Map();
export const on = (what, call) => listeners.set(what, [...(listeners.get(what) || []), call]);
export const emit = (what, value) => (listeners.get(what) || []).forEach((call) => call(value));

export const path = (number = state.number) => `/texts/${state.text.id}/analyses/${number}`;
export const analysis = (number = state.number) => state.text?.analyses.find((one) => one.number === number);

// Numbers stay with entities while the analysis is corrected, so that colours do not jump.
const numbers = new Map();
export function numberOf(id, number = state.number) {
  if (id === null || id === undefined) return 0;
  const key = `${state.text.id} ${number}`;
  if (!numbers.has(key)) numbers.set(key, new Map());
  const own = numbers.get(key);
  if (!own.has(id)) own.set(id, Math.max(0, ...own.values()) + 1);
  return own.get(id);
}
export const colourOf = (number) => (number ? COLOURS[(number - 1) % COLOURS.length] : "var(--soft)");
export const lineOf = (number) => LINES[Math.floor((number - 1) / COLOURS.length) % LINES.length];
export const nameOf = (id) => state.entities.find((one) => one.id === id)?.name ?? "–";

// An analysis that stands beside another has its numbers and colours where an entity begins at the same word.
function share(found, number) {
  const key = `${state.text.id} ${number}`;
  if (numbers.has(key)) return;
  const begun = new Map(state.entities.map((one) => [one.first, numberOf(one.id)]));
  const own = new Map(found.filter((one) => begun.has(one.first)).map((one) => [one.id, begun.get(one.first)]));
  const taken = new Set(own.values());
  let next = 1;
  for (const one of found.filter((other) => !own.has(other.id))) {
    while (taken.has(next) || next <= state.entities.length) next += 1;
    own.set(one.id, next);
    taken.add(next);
  }
  numbers.set(key, own);
}

export async function loadEntities(number = state.number) {
  const found = await ask(`${path(number)}/entities`);
  if (number !== state.number) share(found, number);
  found.forEach((one) => numberOf(one.id, number));
  if (number === state.number) {
    state.entities = found;
    if (!found.some((one) => one.id === state.entity)) state.entity = null;
  }
  return found;
}

export function setText(info) {
  const other = state.text?.id !== info.id;
  state.text = info;
  if (other) Object.assign(state, { number: info.analyses[0].number, beside: null, at: 0, selection: null, entities: [], entity: null, range: null });
  if (!analysis(state.number)) state.number = info.analyses[0].number;
  if (state.beside && !analysis(state.beside)) state.beside = null;
  emit(other ? "text" : "progress");
  keepAddress();
}

export function setPlace(at, selection = null) {
  if (!state.text) return;
  state.at = Math.max(0, Math.min(state.text.tokens - 1, at));
  state.selection = selection;
  emit("place");
  keepAddress();
}

export function choose(values, event) {
  Object.assign(state, values);
  emit(event);
  keepAddress();
}

// The address restores what is shown as long as the server runs.
export function keepAddress() {
  const hash = new URLSearchParams({ token: getToken() });
  if (state.text) {
    hash.set("text", state.text.id);
    hash.set("at", state.at);
    if (state.number !== 1) hash.set("analysis", state.number);
    if (state.beside) hash.set("beside", state.beside);
    if (state.by !== "words") hash.set("by", state.by);
    if (state.tab !== "expect") hash.set("tab", state.tab);
    if (state.entity) hash.set("entity", state.entity);
    if (state.range) hash.set("range", state.range.join("-"));
  }
  history.replaceState(null, "", `#${hash}`);
}
