// Requests to the server of this page. The token stands behind # in the address, which is never sent anywhere by itself.

import { notice } from "./dom.js";

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

let token = sessionStorage.getItem("explorer-token") || "";

export function setToken(value) {
  token = value;
  sessionStorage.setItem("explorer-token", value);
}

export const getToken = () => token;

export async function ask(path, { method = "GET", json, body, signal, raw = false } = {}) {
  const headers = { "X-Explorer-Token": token };
  if (json !== undefined) headers["Content-Type"] = "application/json";
  if (body !== undefined) headers["Content-Type"] = "application/octet-stream";
  let answer;
  try {
    answer = await fetch(`/api${path}`, { method, headers, body: json !== undefined ? JSON.stringify(json) : body, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The explorer does not answer. Is it still running in the terminal?");
  }
  if (!answer.ok) {
    const found = await answer.json().catch(() => ({}));
    throw new Refused(answer.status, found.error || `the explorer answered with ${answer.status}`);
  }
  if (answer.status !== 202) return raw ? answer : answer.json();
  notice(`Wait: ${(await answer.json()).wait} …`); // what is asked for is still being computed
  await new Promise((done) => setTimeout(done, 800));
  if (signal?.aborted) throw new DOMException("given up", "AbortError");
  return ask(path, { method, json, body, signal, raw });
}

// Do something that may be refused, and say why if it is.
export async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    if (!(error instanceof Refused)) throw error;
    notice(error.message, "error");
    return undefined;
  }
}
