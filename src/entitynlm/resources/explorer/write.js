// Writing with the model: choose who comes next, look at continuations, accept one (a branch), go back.

import { ask, attempt } from "./api.js";
import { h } from "./dom.js";
import { colourOf, lineOf, numberOf, path, setText, state } from "./store.js";

const wish = { next_entity: "", words: 25, count: 3, new_entities: true, temperature: 0.8, seed: 0 };
let drafts = null; // { of: the text, continuations, names }

export async function showWrite(panel) {
  const open = (await attempt(() => ask("/texts")))?.texts || [];
  if (state.tab !== "write") return;
  const own = drafts && drafts.of === state.text.id ? drafts : null;
  panel.replaceChildren(h("h2", {}, "Write"), form(panel), own ? results(own, panel) : h("p", { class: "note" }, "The text on the left goes on from its end. Begin a new one with “Open…”."), family(open));
}

function form(panel) {
  const who = h("select", { "aria-label": "Who comes next", id: "next" }, h("option", { value: "" }, "whoever the model likes"),
    state.entities.map((one) => h("option", { value: one.id, selected: one.id === wish.next_entity }, `${numberOf(one.id)} ${one.name}`)));
  const number = (name, key, min, max, step = 1) => h("input", { type: "number", "aria-label": name, id: `wish-${key}`, min, max, step, value: wish[key], onchange: (event) => (wish[key] = Number(event.target.value)) });
  const fresh = h("input", { type: "checkbox", id: "new-entities", checked: wish.new_entities, onchange: (event) => (wish.new_entities = event.target.checked) });
  const go = async (event) => {
    event.preventDefault();
    wish.next_entity = who.value;
    const button = event.target.querySelector("button");
    button.disabled = true;
    button.textContent = "Writing …";
    const found = await attempt(() => ask(`${path()}/continuations`, { method: "POST", json: { ...wish, next_entity: who.value || null } }));
    wish.seed += 1;
    if (found) drafts = { ...found, of: state.text.id };
    showWrite(panel);
  };
  return h("form", { onsubmit: go }, h("p", { class: "row" }, "Next: ", who), h("p", { class: "row" }, "about ", number("Words", "words", 1, 200), " words, ", number("Continuations", "count", 1, 5), " times, temperature ", number("Temperature", "temperature", 0.1, 3, 0.1)),
    h("p", { class: "row" }, h("label", {}, fresh, " new entities may come up")), h("p", {}, h("button", { type: "submit", class: "main", id: "continue" }, "Continue the text")));
}

function results(own, panel) {
  const accept = (number) => async () => {
    const info = await attempt(() => ask(`${path()}/accept`, { method: "POST", json: { number } }));
    if (info) setText(info);
  };
  const reject = (number) => () => {
    own.continuations[number] = null;
    showWrite(panel);
  };
  return h("ol", { class: "drafts" }, own.continuations.map((one, number) => one && h("li", { class: "draft" },
    h("p", {}, render(one)), h("p", { class: "row" }, h("button", { type: "button", class: "accept", onclick: accept(number) }, "Accept"), h("button", { type: "button", class: "reject", onclick: reject(number) }, "Reject")))));
}

function render(one) {
  const parts = [];
  one.tokens.forEach((token, index) => {
    if (index || one.gaps[0]) parts.push(one.gaps[index] ? " " : "");
    const mention = one.mentions.find((own) => own.start <= index && index < own.end);
    if (!mention) return parts.push(token);
    const number = numberOf(mention.entity);
    const last = index === mention.end - 1;
    return parts.push(h("span", { class: "m", style: { "--c": colourOf(number), "--drawn": lineOf(number) } }, token, last ? h("sub", {}, String(number)) : null));
  });
  return parts;
}

// Texts that this one came from, and those that go on from it.
function family(open) {
  const go = (id) => async () => setText(await ask(`/texts/${id}`));
  const link = (text, id, name) => h("button", { type: "button", class: name, onclick: () => attempt(go(id)) }, text);
  const children = open.filter((one) => one.parent === state.text.id);
  const parent = open.find((one) => one.id === state.text.parent);
  const others = parent ? open.filter((one) => one.parent === parent.id && one.id !== state.text.id) : [];
  if (!children.length && !parent) return "";
  return h("section", { "aria-label": "Branches" }, h("h3", {}, "Branches"), h("p", { class: "row" },
    parent ? link("Undo: back to the text before", parent.id, "back") : null,
    others.map((one, index) => link(`Other branch ${index + 1} (${one.tokens} words)`, one.id, "branch")),
    children.map((one, index) => link(`Branch ${index + 1} (${one.tokens} words)`, one.id, "branch"))));
}
