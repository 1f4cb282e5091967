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

// Drawings and tables come from the server, which has escaped what stands in them.
export const parse = (html) => new DOMParser().parseFromString(html, "text/html").body.firstElementChild;

export const percent = (p) => (p > 0 && p < 0.005 ? "< 1 %" : `${Math.round(100 * p)} %`);

export const bits = (value) => (value === null || value === undefined ? "–" : `${value.toFixed(1)} bits`);

export function bar(share, colour) {
  const inner = h("i", { style: { width: `${Math.min(100, 100 * share)}%`, ...(colour ? { background: colour } : {}) } });
  return h("span", { class: "bar", "aria-hidden": "true" }, inner);
}

let timer = 0;
export function notice(message, kind = "") {
  const place = $("#dialog[open] .said") || $("#notice"); // a dialog hides what is behind it
  place.textContent = message;
  place.classList.toggle("error", kind === "error");
  clearTimeout(timer);
  if (message) timer = setTimeout(() => (place.textContent = ""), kind === "error" ? 20000 : 6000);
}

export function download(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
