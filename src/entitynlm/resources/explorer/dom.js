// Elements without templates: text is only ever set as text, so nothing in a text can become markup.

export const $ = (selector, root = document) => root.querySelector(selector);

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, own] of Object.entries(value)) element.style.setProperty(key, own);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);

export const s = (tag, properties, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

export const percent = (p) => (p > 0 && p < 0.005 ? "< 1 %" : `${Math.round(100 * p)} %`);

export const bits = (value) => (value === null || value === undefined ? "–" : `${value.toFixed(1)} bits`);

export function bar(share, colour) {
  const inner = h("i", { style: { width: `${Math.min(100, 100 * share)}%`, ...(colour ? { background: colour } : {}) } });
  return h("span", { class: "bar", "aria-hidden": "true" }, inner);
}

let timer = 0;
export function notice(message, kind = "") {
  const place = $("#notice");
  place.textContent = message;
  place.className = kind;
  clearTimeout(timer);
  if (message && kind !== "error") timer = setTimeout(() => (place.textContent = ""), 8000);
}

export function download(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
