// What is shown: a text, a place in it, a selection, an entity. Views listen to changes.

import { ask, getToken } from "./api.js";

export const state = {
  about: null, text: null, at: 0, selection: null, by: "words", tab: "look", entities: [], entity: null, range: null,
};

const listeners = new Map();
export const on = (what, call) => listeners.set(what, [...(listeners.get(what) || []), call]);
export const emit = (what, value) => (listeners.get(what) || []).forEach((call) => call(value));

export const path = () => `/texts/${state.text.id}`;
export const isRunning = () => ["running", "waiting"].includes(state.text?.state);

const UNKNOWN = { number: 0, colour: "var(--soft)", line: "solid", name: "–" };
let known = new Map(); // entities by id
export const entityOf = (id) => known.get(id) ?? UNKNOWN;

export async function loadEntities() {
  state.entities = await ask(`${path()}/entities`);
  known = new Map(state.entities.map((one) => [one.id, one]));
  if (!state.entities.some((one) => one.id === state.entity)) state.entity = null;
}

export function setText(info) {
  const other = state.text?.id !== info.id;
  state.text = info;
  if (other) Object.assign(state, { at: info.begin, selection: null, entities: [], entity: null, range: null });
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
    if (state.by !== "words") hash.set("by", state.by);
    if (state.tab !== "look") hash.set("tab", state.tab);
    if (state.entity) hash.set("entity", state.entity);
    if (state.range) hash.set("range", state.range.join("-"));
  }
  history.replaceState(null, "", `#${hash}`);
}
