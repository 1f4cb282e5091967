// Two analyses of the text beside each other: by two models, or one corrected in two ways.

import { ask, attempt } from "./api.js";
import { h } from "./dom.js";
import { analysis, choose, emit, setPlace, setText, state } from "./store.js";

export async function showCompare(panel) {
  const both = state.beside && [state.number, state.beside].every((number) => analysis(number).annotated);
  const found = both ? await attempt(() => ask(`/texts/${state.text.id}/comparison?first=${state.number}&second=${state.beside}`)) : null;
  if (state.tab !== "compare") return;
  panel.replaceChildren(h("h2", {}, "Compare"), chooser(), adder(), found ? result(found) : h("p", { class: "note" }, state.beside
    ? "The second analysis is still being made." : "Choose a second analysis, or add one: by another model, or a copy that you correct."));
}

function chooser() {
  const select = (name, value, change, none) => h("select", { "aria-label": name, id: none ? "second" : "first", onchange: (event) => change(Number(event.target.value) || null) },
    none ? h("option", { value: "" }, "none") : null,
    state.text.analyses.map((one) => h("option", { value: one.number, selected: one.number === value }, `${one.number}: ${one.model}${one.corrected ? ", corrected" : ""}`)));
  return h("p", { class: "row" }, "Shown: ", select("Shown analysis", state.number, (number) => choose({ number, beside: state.beside === number ? null : state.beside }, "panes")),
    " beside ", select("Analysis beside it", state.beside, (number) => choose({ beside: number === state.number ? null : number }, "panes"), true));
}

function adder() {
  const model = h("select", { "aria-label": "Model of another analysis", id: "other-model" }, state.about.models.map((one) => h("option", { value: one.name }, one.name)));
  const add = async (json) => {
    const info = await attempt(() => ask(`/texts/${state.text.id}/analyses`, { method: "POST", json }));
    if (!info) return;
    setText(info);
    choose({ beside: info.analyses[info.analyses.length - 1].number }, "panes");
    emit("watch");
  };
  return h("p", { class: "row" }, "Add one by ", model, h("button", { type: "button", id: "add-model", onclick: () => add({ model: model.value }) }, "Analyse"),
    h("button", { type: "button", id: "add-copy", onclick: () => add({ copy_of: state.number }) }, "Copy this one"));
}

function result(found) {
  const [first, second] = found.log_p;
  const by = Math.abs(first - second);
  const better = by < 0.05 ? "Both are equally probable." : `Analysis ${first > second ? state.number : state.beside} is the more probable one, by ${by.toFixed(1)} nats.`;
  const parts = ["r", "e", "l", "x"];
  const names = { r: "where mentions start", e: "who is mentioned", l: "how long mentions are", x: "the words" };
  return h("section", { id: "comparison" },
    h("p", {}, `log P under ${analysis().model}: ${first.toFixed(1)} and ${second.toFixed(1)} nats. ${better}`),
    h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "part"), h("th", { scope: "col" }, `analysis ${state.number}`), h("th", { scope: "col" }, `analysis ${state.beside}`))),
      h("tbody", {}, parts.map((part) => h("tr", {}, h("th", { scope: "row" }, names[part]), found.log_p_parts.map((one) => h("td", { class: "n" }, one[part].toFixed(1))))))),
    h("p", {}, `${found.same} mentions are in both (of ${found.mentions.join(" and ")})${found.agreement === null ? "" : `; they agree to ${found.agreement.toFixed(0)} % (CoNLL average)`}.`),
    h("h3", {}, `${found.differences.length + found.more} differences`),
    h("ol", { class: "mentions" }, found.differences.map((one) => h("li", {},
      h("button", { type: "button", class: "link", onclick: () => setPlace(one.start, [one.start, one.end]) }, one.text),
      h("small", {}, ` ${one.kind === "another entity" ? `${one.first} or ${one.second}?` : `${one.kind} (${one.first || one.second})`}`)))),
    found.more ? h("p", { class: "note" }, `… and ${found.more} more`) : null);
}
