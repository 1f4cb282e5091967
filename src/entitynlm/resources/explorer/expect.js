// What the model expects at the place where the reading is: the paper's first figure, at every word.

import { ask, attempt } from "./api.js";
import { bar, bits, h, notice, percent } from "./dom.js";
import { analysis, choose, colourOf, numberOf, path, state } from "./store.js";
import { panes } from "./text.js";

let asking = null;

export async function showExpectation(panel) {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  const at = state.at;
  const numbers = [state.number, state.beside].filter(Boolean);
  const answers = [];
  for (const number of numbers) {
    const found = await attempt(() => askPatiently(`${path(number)}/step?at=${at}&by=${state.by}`, signal));
    if (signal.aborted || state.tab !== "expect") return;
    answers.push(found);
  }
  const columns = numbers.map((number, index) => column(number, answers[index], numbers.length > 1));
  panel.replaceChildren(heading(at), chooseBy(), h("div", { class: numbers.length > 1 ? "beside" : "" }, columns));
}

// A model that is being loaded or is still reading answers later.
async function askPatiently(url, signal) {
  for (;;) {
    try {
      return await ask(url, { signal });
    } catch (error) {
      if (error.status !== 503 || signal.aborted) throw error;
      notice(error.message);
      await new Promise((done) => setTimeout(done, 800));
      if (signal.aborted) return undefined;
    }
  }
}

function wordsAround(at) {
  for (const block of panes[0]?.blocks || []) {
    if (block.words && at >= block.words.start && at < block.words.stop) {
      const index = at - block.words.start;
      return { before: block.words.tokens.slice(Math.max(0, index - 7), index), word: block.words.tokens[index], words: block.words, index };
    }
  }
  return { before: [], word: "…", words: null, index: 0 };
}

function heading(at) {
  const { before, word } = wordsAround(at);
  return h("div", { class: "context" },
    h("h2", {}, "What does it expect next?"),
    h("p", {}, "… ", before.join(" "), " ", h("b", { class: "slot" }, word)));
}

function chooseBy() {
  const option = (value, text) => h("label", {},
    h("input", { type: "radio", name: "by", value, checked: state.by === value, onchange: () => choose({ by: value }, "place") }), ` ${text}`);
  return h("fieldset", { class: "by" }, h("legend", {}, "It knows"),
    option("words", "the words so far, and nothing else"), option("mentions", "also the mentions marked so far"));
}

function column(number, step, titled) {
  const title = titled ? h("h3", { class: "model" }, analysis(number).model) : null;
  if (!step) return h("section", {}, title, h("p", { class: "note" }, "No answer at this word."));
  if (!step.read) return h("section", {}, title, h("p", { class: "note" }, "The model does not read this token."));
  return h("section", {}, title, starts(step), who(number, step), lengths(step), words(step));
}

function starts(step) {
  const rows = [h("li", {}, h("span", {}, "A mention starts here"), bar(step.starts), h("b", {}, percent(step.starts)))];
  if (step.inside > 0.005) {
    const of = step.open.map((one) => `${one.name} ${percent(one.probability)}`).join(", ");
    rows.push(h("li", {}, h("span", {}, "One is still going on", of ? h("small", {}, ` (of ${of})`) : null), bar(step.inside), h("b", {}, percent(step.inside))));
  }
  return h("ul", { class: "chances", "aria-label": "Whether somebody is mentioned" }, rows);
}

function who(number, step) {
  if (!step.referents.length) return h("p", { class: "note" }, "Nobody can be mentioned here: a mention is going on.");
  const rows = step.referents.map((one) => h("li", { class: "referent" },
    h("span", { class: "name", style: { "--c": one.new ? "var(--soft)" : colourOf(numberOf(one.entity, number)) } },
      one.name, one.entity ? h("sub", {}, String(numberOf(one.entity, number))) : null),
    bar(one.probability, one.new ? null : colourOf(numberOf(one.entity, number))),
    h("b", {}, percent(one.probability)),
    h("small", {}, one.words.slice(0, 5).map((word) => word.word).join(" · "))));
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
