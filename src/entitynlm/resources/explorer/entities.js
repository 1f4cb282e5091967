// The entities of the text, a card for the one that is followed, and corrections.

import { ask, attempt } from "./api.js";
import { bits, h, notice, parse } from "./dom.js";
import { choose, emit, entityOf, path, setPlace, setText, state } from "./store.js";
import { pane, readWords } from "./text.js";

export async function correct(fields) {
  const info = await attempt(() => ask(`${path()}/edits`, { method: "POST", json: fields }));
  if (!info) return;
  setText(info);
  emit("corrected");
  notice(`Done: ${state.text.undo}.`);
}

// The mention that is selected, if the selection is one.
function selectedMention() {
  if (!state.selection) return null;
  for (const block of pane?.blocks || []) {
    const found = block.words?.mentions.filter((one) => one.start === state.selection[0] && one.end === state.selection[1]) || [];
    if (found.length) return found.find((one) => one.entity === state.entity) || found[0];
  }
  return null;
}

export async function showEntities(panel) {
  const card = state.entity ? await attempt(() => ask(`${path()}/entity?entity=${encodeURIComponent(state.entity)}`)) : null;
  if (state.tab !== "entities") return;
  panel.replaceChildren(tools(), card ? makeCard(card) : null || "", list());
}

function choice(label, exclude, first) {
  const select = h("select", { "aria-label": label }, first ? h("option", { value: "" }, first) : null,
    state.entities.filter((one) => one.id !== exclude).map((one) => h("option", { value: one.id }, `${one.number} ${one.name}`)));
  return select;
}

function tools() {
  const mention = selectedMention();
  if (mention) return mentionTools(mention);
  const span = state.selection || [state.at, state.at + 1];
  const entity = choice("Mention of", null, "a new entity");
  const mark = () => correct({ action: "add", start: span[0], end: span[1], entity: entity.value || "new" });
  return h("section", { class: "tools", "aria-label": "Correct" }, h("h2", {}, "Correct"),
    h("p", {}, "Selected: ", h("b", {}, wordsOf(span)), ". Select words with the mouse, or with Shift and the arrow keys."),
    h("p", { class: "row" }, "mention of ", entity, h("button", { type: "button", id: "mark", onclick: mark }, "Mark")));
}

function mentionTools(mention) {
  const own = { start: mention.start, end: mention.end, entity: mention.entity };
  const entity = choice("Change to", mention.entity, "a new entity");
  const move = (start, end) => () => {
    state.selection = [mention.start + start, mention.end + end];
    correct({ action: "change", ...own, to_start: mention.start + start, to_end: mention.end + end });
  };
  const button = (text, name, call, disabled = false) => h("button", { type: "button", "aria-label": name, onclick: call, disabled }, text);
  const one = mention.end - mention.start === 1;
  return h("section", { class: "tools", "aria-label": "Correct" }, h("h2", {}, "Correct"),
    h("p", {}, "Mention: ", h("b", {}, wordsOf([mention.start, mention.end]))),
    h("p", { class: "row" },
      button("◂ start", "Start one word earlier", move(-1, 0), mention.start === 0), button("start ▸", "Start one word later", move(1, 0), one),
      button("◂ end", "End one word earlier", move(0, -1), one), button("end ▸", "End one word later", move(0, 1), mention.end >= state.text.tokens),
      button("Remove", "Remove the mention", () => correct({ action: "remove", ...own })),
      button("Split here", "Split the entity from this mention on", () => correct({ action: "split", ...own }))),
    h("p", { class: "row" }, "is really ", entity, button("Change", "Change the entity of the mention", () => correct({ action: "change", ...own, to_entity: entity.value || "new" }))));
}

const wordsOf = ([start, end]) => `“${readWords(start, end)}”`;

function list() {
  if (!state.entities.length) return h("p", { class: "note" }, state.text.annotated ? "No entities were found." : "Entities are being found …");
  const rows = state.entities.map((one) => h("li", {}, h("button", {
    type: "button", class: "who", "aria-pressed": String(one.id === state.entity), style: { "--c": one.colour },
    onclick: () => choose({ entity: one.id === state.entity ? null : one.id }, "entity"),
  }, h("i", { class: "dot", "aria-hidden": "true" }), h("b", {}, String(one.number)), " ", one.name, h("small", {}, ` ${one.type || ""} ${one.mentions} ×`))));
  return h("section", {}, h("h2", {}, `Entities (${state.entities.length})`), h("ol", { class: "entities" }, rows));
}

function makeCard(card) {
  const own = entityOf(card.id);
  const name = h("input", { value: card.name, "aria-label": "Name", maxlength: "80" });
  const other = choice("Merge with", card.id);
  const rename = (event) => {
    event.preventDefault();
    correct({ action: "rename", entity: card.id, name: name.value });
  };
  return h("section", { class: "card", style: { "--c": own.colour }, "aria-label": `Entity ${card.name}` },
    h("h2", {}, `${own.number} ${card.name}`, card.type ? h("small", {}, ` ${card.type}`) : null),
    h("form", { class: "row", onsubmit: rename }, name, h("button", { type: "submit" }, "Rename")),
    state.entities.length > 1 ? h("p", { class: "row" }, "the same as ", other, " ", h("button", {
      type: "button", onclick: () => correct({ action: "merge", entity: card.id, to_entity: other.value }).then(() => choose({ entity: other.value }, "entity")),
    }, "Merge")) : null,
    tell(card), card.movement ? parse(card.movement.drawing) : null,
    h("details", { open: card.mentions.length < 13 }, h("summary", {}, `${card.mentions.length} mentions in order`),
      h("ol", { class: "mentions" }, card.mentions.slice(0, 400).map((one) => mentionLine(one)))));
}

function mentionLine(one) {
  const words = one.surprisal === null ? "" : one.new ? "introduced here" : `${bits(one.surprisal)}, ${surprise(one.surprisal)}`;
  const instead = one.surprisal > 2 && one.expected ? `; ${one.expected} was likelier (${Math.round(100 * one.expected_probability)} %)` : "";
  return h("li", {}, h("button", { type: "button", class: "link", onclick: () => setPlace(one.start, [one.start, one.end]) }, one.text),
    h("small", {}, ` ${words}${instead}`));
}

const surprise = (value) => (value < 0.5 ? "as expected" : value < 2 ? "not unexpected" : value < 5 ? "surprising" : "very surprising");

// How the vector moved, in words.
function tell(card) {
  const known = card.mentions.filter((one) => one.surprisal !== null && !one.new);
  const worst = known.reduce((found, one) => (found && found.surprisal >= one.surprisal ? found : one), null);
  const sentences = [];
  if (worst && worst.surprisal > 2) sentences.push(`Its most surprising mention is “${worst.text}” (word ${worst.start + 1}, ${bits(worst.surprisal)}).`);
  if (card.movement) {
    const { moved } = card.movement;
    sentences.push(moved < 0.3 ? "What the model knows of it has hardly changed since its first mention." : moved < 0.8
      ? "What the model knows of it has changed noticeably since its first mention." : "The model now sees it quite differently from its first mention.");
  }
  return sentences.length ? h("p", { class: "note" }, sentences.join(" ")) : null;
}
