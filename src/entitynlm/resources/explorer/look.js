// Drawings of the text: timeline, surprisal curve, network and a table of characters, all of the stretch that is chosen.

import { ask, attempt } from "./api.js";
import { $, download, h, s } from "./dom.js";
import { choose, colourOf, numberOf, path, setPlace, state } from "./store.js";

const WIDE = 640;
const LEFT = 130;

export async function showLook(panel) {
  const [start, stop] = state.range || [0, state.text.tokens];
  const drawing = await attempt(() => ask(`${path()}/drawing?start=${start}&stop=${stop}`));
  if (!drawing || state.tab !== "look") return;
  const parts = [["timeline", timeline(drawing)], ["network", network(drawing)]];
  panel.replaceChildren(
    h("h2", {}, "Look"), rangeTools(start, stop),
    ...parts.map(([name, svg]) => (svg ? h("figure", {}, svg, exportTools(name, svg)) : "")),
    characters(drawing));
}

function rangeTools(start, stop) {
  const from = h("input", { type: "number", min: 1, max: state.text.tokens, value: start + 1, "aria-label": "From word" });
  const to = h("input", { type: "number", min: 1, max: state.text.tokens, value: stop, "aria-label": "To word" });
  const set = (a, b) => {
    const [low, high] = [Math.max(0, Math.floor(a)), Math.min(state.text.tokens, Math.ceil(b))];
    const whole = low === 0 && high === state.text.tokens;
    if (high - low >= 1) choose({ range: whole ? null : [low, high] }, "range");
  };
  const zoom = (factor) => {
    const middle = state.at >= start && state.at < stop ? state.at : (start + stop) / 2;
    const half = Math.max(4, ((stop - start) * factor) / 2);
    set(middle - half, middle + half);
  };
  const apply = (event) => { event.preventDefault(); set(Number(from.value) - 1, Number(to.value)); };
  return h("form", { class: "row", onsubmit: apply, "aria-label": "Stretch of the text" }, "words ", from, " to ", to,
    h("button", { type: "submit" }, "Show"), h("button", { type: "button", id: "zoom-in", onclick: () => zoom(0.5) }, "Zoom in"),
    h("button", { type: "button", id: "zoom-out", onclick: () => zoom(2) }, "Zoom out"),
    h("button", { type: "button", onclick: () => set(0, state.text.tokens) }, "All"),
    h("small", {}, "Or draw over the timeline with the mouse: everything follows."));
}

const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const label = (x, y, text, more = {}) => s("text", { x, y, fill: theme("--ink"), "font-size": 12, "font-family": "sans-serif", ...more }, text);
const shorten = (name, most = 18) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

function timeline(drawing) {
  const { start, stop, rows, curve } = drawing;
  const high = 70;
  const x = (token) => LEFT + ((WIDE - LEFT - 8) * (token - start)) / Math.max(1, stop - start);
  const height = high + 16 + 20 * rows.length + 20;
  const svg = s("svg", { viewBox: `0 0 ${WIDE} ${height}`, id: "timeline", role: "img", "aria-label": "Surprisal along the text, and below it the mentions of each entity" },
    s("rect", { width: WIDE, height, fill: theme("--card") }));
  const top = Math.max(1, ...curve.with.filter((v) => v !== null), ...curve.without.filter((v) => v !== null));
  for (const [key, colour, dash] of [["without", theme("--soft"), "3 3"], ["with", theme("--main"), null]]) {
    const values = curve[key];
    const points = values.map((value, index) => [LEFT + ((WIDE - LEFT - 8) * (index + 0.5)) / values.length, high - (high - 16) * ((value ?? 0) / top)]);
    svg.append(s("polyline", { points: points.map((point) => point.map((v) => v.toFixed(1)).join(",")).join(" "), fill: "none", stroke: colour, "stroke-width": 1.5, "stroke-dasharray": dash }));
  }
  svg.append(label(4, 16, `surprisal (to ${top.toFixed(0)} bits)`, { "font-size": 11 }), label(4, 32, "— with entities", { "font-size": 11, fill: theme("--main") }), label(4, 47, "- - without", { "font-size": 11, fill: theme("--soft") }));
  rows.forEach((row, index) => {
    const y = high + 28 + 20 * index;
    const colour = colourOf(numberOf(row.id));
    svg.append(label(4, y, `${numberOf(row.id)} ${shorten(row.name, 15)}`), s("line", { x1: LEFT, x2: WIDE - 8, y1: y - 4, y2: y - 4, stroke: theme("--line") }));
    for (const [a, b] of row.marks) {
      svg.append(s("rect", { x: x(a).toFixed(1), y: y - 11, width: Math.max(3, x(b) - x(a)).toFixed(1), height: 13, rx: 2, fill: colour, "data-at": a }, s("title", {}, `${row.name}, word ${a + 1}`)));
    }
  });
  svg.append(label(LEFT, height - 5, `word ${start + 1}`, { "font-size": 11 }), label(WIDE - 8, height - 5, `word ${stop}`, { "font-size": 11, "text-anchor": "end" }));
  brush(svg, height, (px) => start + ((px - LEFT) / (WIDE - LEFT - 8)) * (stop - start));
  return svg;
}

// Draw over a stretch to choose it; a click goes to the mention.
function brush(svg, height, token) {
  const where = (event) => ((event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width) * WIDE;
  let from = null;
  const shade = s("rect", { y: 0, height, width: 0, fill: theme("--main"), opacity: 0.2 });
  svg.append(shade);
  svg.addEventListener("pointerdown", (event) => { from = where(event); svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointermove", (event) => {
    if (from === null) return;
    const to = where(event);
    shade.setAttribute("x", Math.min(from, to));
    shade.setAttribute("width", Math.abs(to - from));
  });
  svg.addEventListener("pointerup", (event) => {
    const to = where(event);
    const [low, high] = [Math.max(LEFT, Math.min(from, to)), Math.max(from, to)];
    from = null;
    if (high - low > 6) {
      const range = [Math.max(0, Math.floor(token(low))), Math.min(state.text.tokens, Math.ceil(token(high)))];
      if (range[1] - range[0] >= 2) choose({ range }, "range");
    } else {
      shade.setAttribute("width", 0);
      const mark = document.elementsFromPoint(event.clientX, event.clientY).find((one) => one.dataset?.at);
      if (mark) setPlace(Number(mark.dataset.at));
    }
  });
}

function network(drawing) {
  if (!drawing.nodes.length) return null;
  const high = 380;
  const place = (node) => [WIDE / 2 + node.x * (WIDE / 2 - 90), high / 2 - 6 + node.y * (high / 2 - 46)];
  const byNumber = new Map(drawing.nodes.map((node) => [node.number, node]));
  const row = new Map(drawing.rows.map((one) => [one.number, one]));
  const most = Math.max(...drawing.edges.map((edge) => edge.sentences));
  const largest = Math.max(...drawing.nodes.map((node) => node.mentions));
  const svg = s("svg", { viewBox: `0 0 ${WIDE} ${high}`, id: "network", role: "img", "aria-label": "Entities that are mentioned in the same sentences" },
    s("rect", { width: WIDE, height: high, fill: theme("--card") }));
  for (const edge of drawing.edges) {
    const [[x1, y1], [x2, y2]] = [place(byNumber.get(edge.first)), place(byNumber.get(edge.second))];
    svg.append(s("line", { x1, y1, x2, y2, stroke: theme("--soft"), "stroke-width": 0.8 + (5 * edge.sentences) / most, opacity: 0.45 }, s("title", {}, `${edge.sentences} sentences`)));
  }
  for (const node of drawing.nodes) {
    const [x, y] = place(node);
    const own = row.get(node.number);
    const radius = 5 + 13 * Math.sqrt(node.mentions / largest);
    svg.append(s("circle", { cx: x, cy: y, r: radius, fill: colourOf(numberOf(own.id)) }, s("title", {}, `${own.name}: ${node.mentions} mentions`)),
      label(x, y + radius + 13, `${numberOf(own.id)} ${shorten(own.name)}`, { "text-anchor": "middle" }));
  }
  return svg;
}

function characters(drawing) {
  if (!drawing.rows.length) return h("p", { class: "note" }, "No entity is mentioned in this stretch.");
  const rows = drawing.rows.map((row) => h("tr", {}, h("th", { scope: "row" }, h("button", { type: "button", class: "link", onclick: () => choose({ entity: row.id, tab: "entities" }, "tab") }, `${numberOf(row.id)} ${row.name}`)),
    h("td", {}, row.type || ""), h("td", { class: "n" }, String(row.marks.length)), h("td", { class: "n" }, `${row.marks[0][0] + 1}–${row.marks[row.marks.length - 1][0] + 1}`), h("td", {}, quotes(row))));
  return h("section", {}, h("h3", {}, "Who is mentioned"), h("table", { id: "characters" },
    h("thead", {}, h("tr", {}, ["name", "type", "mentions", "words", "says"].map((title) => h("th", { scope: "col" }, title)))), h("tbody", {}, rows)),
  h("p", { class: "row" }, h("button", { type: "button", id: "save-table", onclick: () => saveTable(drawing) }, "Save as TSV")));
}

function quotes(row) {
  if (!row.quoted) return "";
  const lines = row.quotes.map((one) => h("li", {}, h("button", { type: "button", class: "link", onclick: () => setPlace(one.start) }, shorten(one.text, 60))));
  return [h("ul", { class: "quotes" }, lines), row.quoted > row.quotes.length ? h("small", {}, `and ${row.quoted - row.quotes.length} more`) : null].filter(Boolean);
}

function saveTable(drawing) {
  const clean = (value) => String(value ?? "").replace(/\s+/g, " ");
  const lines = [["name", "type", "mentions", "first", "last", "quotations"], ...drawing.rows.map((row) => [row.name, row.type, row.marks.length, row.marks[0][0] + 1, row.marks[row.marks.length - 1][0] + 1, row.quoted])];
  download("characters.tsv", new Blob([`${lines.map((line) => line.map(clean).join("\t")).join("\n")}\n`], { type: "text/tab-separated-values" }));
}

function exportTools(name, svg) {
  const source = () => {
    const copy = svg.cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    return { width, height, blob: new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }) };
  };
  const png = async () => {
    const { width, height, blob } = source();
    const image = new Image();
    const address = URL.createObjectURL(blob);
    await new Promise((done, failed) => { image.onload = done; image.onerror = failed; image.src = address; });
    const canvas = h("canvas", { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
    URL.revokeObjectURL(address);
    canvas.toBlob((made) => download(`${name}.png`, made));
  };
  return h("figcaption", { class: "row" }, h("button", { type: "button", class: "save-svg", "aria-label": `Save the ${name} as SVG`, onclick: () => download(`${name}.svg`, source().blob) }, "SVG"),
    h("button", { type: "button", class: "save-png", "aria-label": `Save the ${name} as PNG`, onclick: png }, "PNG"));
}

export function markRange() {
  const [start, stop] = state.range || [0, Infinity];
  $("#panes").querySelectorAll(".w").forEach((word) => word.classList.toggle("outside", Number(word.dataset.i) < start || Number(word.dataset.i) >= stop));
}
