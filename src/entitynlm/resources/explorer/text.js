// A text on the page: stretches are fetched and laid out when they come near, and given up when they are far away.

import { ask, attempt } from "./api.js";
import { $, h } from "./dom.js";
import { choose, emit, entityOf, loadEntities, path, setPlace, state } from "./store.js";

const FIRST_LEVEL = 3;
const STEP = 1.8;
const LEVELS = 8;

class TextPane {
  constructor(root) {
    this.root = root;
    this.blocks = [];
    this.awaited = null; // the word to scroll to as soon as it is laid out: stretches above it change their heights
    this.watcher = new IntersectionObserver((entries) => entries.forEach((entry) => this.meet(entry)), {
      root, rootMargin: "1200px 0px",
    });
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("mouseup", () => this.takeSelection());
    root.addEventListener("keydown", (event) => this.key(event));
    this.lay();
  }

  lay() {
    const { blocks, tokens } = state.text;
    this.root.replaceChildren();
    this.blocks = blocks.map((start, index) => {
      const stop = blocks[index + 1] ?? tokens;
      const element = h("div", { class: "block", "data-index": index, style: { "min-height": `${Math.ceil((stop - start) / 9) * 33}px` } });
      this.root.append(element);
      this.watcher.observe(element);
      return { start, stop, element, near: false, shown: -1 };
    });
  }

  meet(entry) {
    const block = this.blocks[Number(entry.target.dataset.index)];
    if (!block || block.element !== entry.target) return;
    block.near = entry.isIntersecting;
    if (block.near) this.show(block);
    else if (block.shown >= 0) {
      block.element.style.minHeight = `${block.element.offsetHeight}px`;
      block.element.replaceChildren();
      block.shown = -1;
    }
  }

  async show(block) {
    const wanted = (block.wanted = (block.wanted || 0) + 1);
    const words = await attempt(() => ask(`${path()}/words?start=${block.start}&stop=${block.stop}`));
    if (!words || wanted !== block.wanted || !block.near) return;
    block.words = words;
    block.element.replaceChildren(...renderWords(words));
    block.element.style.minHeight = "0";
    block.shown = words.version;
    this.mark();
    if (this.awaited !== null) this.scrollTo(this.awaited);
    if (state.at >= block.start && state.at < block.stop) emit("shown");
  }

  refresh() {
    return Promise.all(this.blocks.filter((block) => block.near).map((block) => this.show(block)));
  }

  find(token) {
    return $(`[data-i="${token}"]`, this.root);
  }

  // Show where the reading is, and what is selected.
  mark(scroll = false) {
    const [from, to] = state.selection || [-1, -1];
    const stepping = state.tab === "expect";
    for (const word of this.root.querySelectorAll(".w")) {
      const i = Number(word.dataset.i);
      word.classList.toggle("at", i === state.at);
      word.classList.toggle("later", stepping && i > state.at);
      word.classList.toggle("picked", i >= from && i < to);
    }
    for (const mention of this.root.querySelectorAll(".m")) {
      mention.classList.toggle("followed", mention.dataset.e === state.entity);
    }
    if (scroll) this.scrollTo(state.at);
  }

  scrollTo(token) {
    const word = this.find(token);
    const place = word || this.blocks.find((block) => token >= block.start && token < block.stop)?.element;
    this.awaited = word || !place ? null : token;
    if (!place) return;
    const own = place.getBoundingClientRect();
    const around = this.root.getBoundingClientRect();
    if (word && own.top > around.top + 40 && own.bottom < around.bottom - 60) return;
    this.root.scrollTop += own.top - around.top - this.root.clientHeight / 3;
  }

  click(event) {
    if (String(getSelection()).trim()) return;
    const word = event.target.closest(".w");
    const mention = event.target.closest(".m");
    if (mention) choose({ entity: mention.dataset.e }, "entity");
    if (word) setPlace(Number(word.dataset.i), mention ? [Number(mention.dataset.s), Number(mention.dataset.t)] : null);
  }

  takeSelection() {
    const chosen = getSelection();
    if (!String(chosen).trim() || !this.root.contains(chosen.anchorNode)) return;
    const places = [chosen.anchorNode, chosen.focusNode].map((node) => {
      const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
      return element.closest?.(".w") ?? (node.nextSibling?.classList?.contains("w") ? node.nextSibling : null);
    });
    const numbers = places.filter(Boolean).map((word) => Number(word.dataset.i));
    if (!numbers.length) return;
    chosen.removeAllRanges();
    setPlace(Math.min(...numbers), [Math.min(...numbers), Math.max(...numbers) + 1]);
  }

  key(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 50, PageUp: -50 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (by && event.shiftKey) {
      const [from, to] = state.selection || [state.at, state.at + 1];
      if (to + by > from) setPlace(state.at, [from, Math.min(state.text.tokens, to + by)]);
    } else if (by) setPlace(state.at + by);
    else if (event.key === "Home") setPlace(0);
    else if (event.key === "End") setPlace(state.text.tokens - 1);
    else return;
    event.preventDefault();
  }
}

function renderWords(words) {
  const unknown = new Set(words.unknown);
  const starting = new Map();
  for (const mention of words.mentions) {
    const first = Math.max(mention.start, words.start);
    if (!starting.has(first)) starting.set(first, []);
    starting.get(first).push(mention);
  }
  const paragraphs = [h("p")];
  let open = []; // [mention, element], the outermost first
  const inside = () => (open.length ? open[open.length - 1][1] : paragraphs[paragraphs.length - 1]);
  const enter = (mention) => {
    const element = makeMention(mention);
    inside().append(element);
    open.push([mention, element]);
  };
  words.tokens.forEach((token, index) => {
    const i = words.start + index;
    const going = open.filter(([mention]) => mention.end > i);
    if (going.length < open.length) {
      const kept = open.findIndex(([mention]) => mention.end <= i);
      const again = open.slice(kept).filter(([mention]) => mention.end > i);
      open.slice(kept).forEach(([mention, element]) => mention.end <= i && label(mention, element));
      open = open.slice(0, kept);
      again.forEach(([mention]) => enter(mention)); // mentions that cross each other
    }
    const gap = words.gaps[index];
    if (gap === "\n" && index) {
      const again = open.map(([mention]) => mention);
      open = [];
      paragraphs.push(h("p"));
      again.forEach(enter);
    } else if (gap) inside().append(" ");
    (starting.get(i) || []).sort((a, b) => b.end - a.end).forEach(enter);
    const bits = words.surprisal[index];
    const level = bits === null || bits === undefined ? 0 : Math.min(LEVELS, Math.max(0, Math.ceil((bits - FIRST_LEVEL) / STEP)));
    const names = ["w", level ? `h${level}` : "", unknown.has(i) ? "unknown" : ""].filter(Boolean).join(" ");
    const title = [bits === null || bits === undefined ? "" : `${bits.toFixed(1)} bits`, unknown.has(i) ? "not in the model's vocabulary" : ""];
    inside().append(h("span", { class: names, "data-i": i, title: title.filter(Boolean).join(", ") || null }, token));
  });
  open.forEach(([mention, element]) => mention.end <= words.stop && label(mention, element));
  return paragraphs;
}

function makeMention(mention) {
  const own = entityOf(mention.entity);
  return h("span", {
    class: "m", "data-e": mention.entity, "data-s": mention.start, "data-t": mention.end,
    style: { "--c": own.colour, "--drawn": own.line },
  });
}

const label = (mention, element) => element.append(h("sub", {}, String(entityOf(mention.entity).number)));

// Words as they stand in the text, as far as they were fetched.
export function readWords(start, stop) {
  const parts = [];
  for (const { words } of pane?.blocks || []) {
    if (words) for (let i = Math.max(start, words.start); i < Math.min(stop, words.stop); i += 1) parts.push(i > start && words.gaps[i - words.start] ? " " : "", words.tokens[i - words.start]);
  }
  return parts.join("");
}

// The text that is open.
export let pane = null;

export async function layText() {
  const { id } = state.text;
  await attempt(() => loadEntities());
  if (state.text.id !== id) return;
  const root = h("div", { class: "text", tabindex: "0", role: "region", "aria-label": `The text as read by ${state.text.model}`, id: "text" });
  $("#text").replaceWith(root);
  pane = new TextPane(root);
}
