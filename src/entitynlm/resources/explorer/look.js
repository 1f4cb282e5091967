// The picture of the text: timeline, network and characters, all of the stretch that is chosen.

import { ask, attempt } from "./api.js";
import { $, download, h, parse } from "./dom.js";
import { choose, isRunning, path, setPlace, state } from "./store.js";

export async function showLook(panel) {
  if (!state.text.annotated) {
    panel.replaceChildren(h("h2", {}, "The whole text"), h("p", { class: "note" }, isRunning()
      ? "The model is looking for the persons, places and things of the text. Timeline, network and characters appear here."
      : "No entities were looked for: the analysis was stopped."));
    return;
  }
  const [start, stop] = state.range || [0, state.text.tokens];
  if (!panel.querySelector("figure")) panel.replaceChildren(h("p", { class: "note" }, "The picture is being drawn …"));
  const width = Math.max(300, Math.min(1200, Math.round(panel.clientWidth - 52)));
  const drawing = await attempt(() => ask(`${path()}/drawing?start=${start}&stop=${stop}&width=${width}`));
  if (!drawing || state.tab !== "look") return;
  const [timeline, network, characters] = ["timeline", "network", "characters"].map((name) => parse(drawing[name]));
  if (timeline.matches("svg")) brush(timeline);
  characters.addEventListener("click", (event) => {
    const entity = event.target.closest("[data-entity]")?.dataset.entity;
    if (entity) choose({ entity, tab: "entities" }, "tab");
  });
  panel.replaceChildren(
    h("h2", {}, "Who is mentioned when"),
    h("p", { class: "note" }, "A mark is a mention; a hollow one was a surprise. Draw over the timeline to choose a stretch: everything follows."),
    figure("timeline", timeline), rangeTools(start, stop), characters,
    h("h2", {}, "Who appears with whom"), figure("network", network));
}

function figure(name, drawing) {
  drawing.id = name;
  return h("figure", {}, drawing, drawing.matches("svg") ? exportTools(name, drawing) : null);
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
    h("button", { type: "button", onclick: () => set(0, state.text.tokens) }, "All"));
}

// Draw over a stretch to choose it; a click goes to the mention.
function brush(svg) {
  const [left, right, start, stop] = ["left", "right", "start", "stop"].map((name) => Number(svg.dataset[name]));
  const share = (event) => (event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width;
  const token = (x) => start + ((Math.min(right, Math.max(left, x)) - left) / (right - left)) * (stop - start);
  const shade = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  shade.setAttribute("class", "shade");
  shade.setAttribute("height", "100%");
  svg.append(shade);
  let from = null;
  svg.addEventListener("pointerdown", (event) => { from = share(event); svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointermove", (event) => {
    if (from === null) return;
    shade.setAttribute("x", `${100 * Math.min(from, share(event))}%`);
    shade.setAttribute("width", `${100 * Math.abs(share(event) - from)}%`);
  });
  svg.addEventListener("pointerup", (event) => {
    const [low, high] = [Math.min(from, share(event)), Math.max(from, share(event))];
    from = null;
    const range = [Math.floor(token(low)), Math.ceil(token(high))];
    if (high - low > 0.01 && range[1] - range[0] >= 2) choose({ range }, "range");
    else {
      shade.setAttribute("width", 0);
      const mark = document.elementsFromPoint(event.clientX, event.clientY).find((one) => one.dataset?.at);
      if (mark) setPlace(Number(mark.dataset.at));
    }
  });
}

// A drawing as a file has the colours of the page in it.
function exportTools(name, svg) {
  const source = () => {
    const copy = svg.cloneNode(true);
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    for (const [key, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height })) copy.setAttribute(key, value);
    const [own, others] = [svg, copy].map((one) => [one, ...one.querySelectorAll("*")]);
    own.forEach((one, index) => {
      const style = getComputedStyle(one);
      for (const key of ["fill", "stroke", "stroke-width", "paint-order", "font-size", "font-family"]) others[index].style.setProperty(key, style.getPropertyValue(key));
    });
    copy.style.setProperty("background", getComputedStyle(svg.closest("figure")).backgroundColor);
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
  return h("figcaption", { class: "row" }, h("button", { type: "button", "aria-label": `Save the ${name} as SVG`, onclick: () => download(`${name}.svg`, source().blob) }, "SVG"),
    h("button", { type: "button", "aria-label": `Save the ${name} as PNG`, onclick: png }, "PNG"));
}

export function markRange() {
  const [start, stop] = state.range || [0, Infinity];
  $("#text").querySelectorAll(".w").forEach((word) => word.classList.toggle("outside", Number(word.dataset.i) < start || Number(word.dataset.i) >= stop));
}
