// What the model expects at the place where the reading is: the paper's first figure, at every word.

import { ask, attempt } from "./api.js";
import { bar, bits, h, percent } from "./dom.js";
import { choose, entityOf, path, state } from "./store.js";
import { pane, readWords } from "./text.js";

let asking = null;

export async function showExpectation(panel) {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  const at = state.at;
  const step = await attempt(() => ask(`${path()}/step?at=${at}&by=${state.by}`, { signal }));
  if (signal.aborted || state.tab !== "expect") return;
  panel.replaceChildren(heading(at), chooseBy(), describe(step));
}

function wordsAround(at) {
  for (const block of pane?.blocks || []) {
    if (block.words && at >= block.words.start && at < block.words.stop) {
      const index = at - block.words.start;
      return { word: block.words.tokens[index], words: block.words, index };
    }
  }
  return { word: "…", words: null, index: 0 };
}

function heading(at) {
  const { word, words, index } = wordsAround(at);
  return h("div", { class: "context" },
    h("h2", {}, "What does it expect next?"),
    h("p", {}, at > 7 ? "… " : "", readWords(Math.max(0, at - 7), at), words?.gaps[index] ? " " : "", h("b", { class: "slot" }, word)));
}

function chooseBy() {
  const option = (value, text) => h("label", {},
    h("input", { type: "radio", name: "by", value, checked: state.by === value, onchange: () => choose({ by: value }, "place") }), ` ${text}`);
  return h("fieldset", { class: "by" }, h("legend", {}, "It knows"),
    option("words", "the words so far, and nothing else"), option("mentions", "also the mentions marked so far"));
}

function describe(step) {
  if (!step?.read) return h("p", { class: "note" }, step ? "The model does not read this token." : "No answer at this word.");
  return h("section", {}, starts(step), who(step), lengths(step), words(step));
}

function starts(step) {
  const rows = [h("li", {}, h("span", {}, "A mention starts here"), bar(step.starts), h("b", {}, percent(step.starts)))];
  if (step.inside > 0.005) {
    const of = step.open.filter((one) => one.name && one.probability >= 0.005).map((one) => `“${one.name}” ${percent(one.probability)}`).join(", ");
    rows.push(h("li", {}, h("span", {}, "One is still going on", of ? h("small", {}, ` (of ${of})`) : null), bar(step.inside), h("b", {}, percent(step.inside))));
  }
  return h("ul", { class: "chances", "aria-label": "Whether somebody is mentioned" }, rows);
}

function who(step) {
  if (!step.referents.length) return h("p", { class: "note" }, "Nobody can be mentioned here: a mention is going on.");
  const rows = step.referents.map((one) => {
    const known = entityOf(one.entity);
    return h("li", { class: "referent" },
      h("span", { class: "name", style: { "--c": known.colour } }, one.name, known.number ? h("sub", {}, String(known.number)) : null),
      bar(one.probability, one.new ? null : known.colour),
      h("b", {}, percent(one.probability)),
      h("small", {}, one.words.slice(0, 5).map((word) => word.word).join(" · ")));
  });
  return h("div", {}, h("h3", {}, "If so, who or what, and in which words?"), h("ol", { class: "chances", "aria-label": "Referents by probability" }, rows));
}

function lengths(step) {
  const last = step.lengths.length;
  const bars = step.lengths.map((share, index) => h("li", {},
    h("span", {}, index + 1 === last ? `${last} +` : String(index + 1)), bar(share), h("b", {}, percent(share))));
  const mean = step.lengths.reduce((sum, share, index) => sum + share * (index + 1), 0);
  return h("details", {}, h("summary", {}, `How long would the mention be? About ${mean.toFixed(1)} words`), h("ol", { class: "chances short" }, bars));
}

function words(step) {
  const { word, words: block, index } = wordsAround(step.at);
  const list = (title, chances) => h("div", {}, h("h4", {}, title), h("ol", { class: "chances" },
    chances.map((one) => h("li", { class: one.word.trim() === word ? "came" : "" }, h("span", {}, one.word), bar(one.probability), h("b", {}, percent(one.probability))))));
  const came = block ? h("p", { class: "note" }, "What came was ", h("b", {}, word), ": ", bits(block.surprisal[index]),
    " with entities, ", bits(block.without[index]), " without.") : null;
  return h("div", {}, h("h3", {}, step.pieces ? "Which word (or beginning of one)?" : "Which word?"),
    h("div", { class: "two-lists" }, list("with entities", step.words), list("without", step.words_without)), came);
}
