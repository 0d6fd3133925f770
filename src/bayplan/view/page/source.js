// Where the document comes from: a report carries it, a server sends it and what changes. The page sees one interface.

/** @import {Change, Message, PodView, View} from "./document.d.ts" */

/** @typedef {"report" | "following" | "lost" | "locked" | "refused"} State */

/** What the source tells the page. */
/** @typedef {{ changed: (view: View) => void, state: (state: State, text: string) => void }} Listener */

/** @typedef {ReportSource | ServerSource} Source */

const SILENCE_MS = 40_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/** @returns {Source} */
export function findSource() {
  const embedded = document.getElementById("view");
  return embedded ? new ReportSource(embedded.textContent ?? "") : new ServerSource();
}

class ReportSource {
  live = false;

  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  /** @param {Listener} listener */
  start(listener) {
    const view = JSON.parse(this.text);
    this.text = "";
    listener.state("report", "");
    listener.changed(view);
  }

  /**
   * A report has the pages of pods that wait, and those are in the document.
   * @param {string} _namespace
   * @param {string} _name
   * @returns {Promise<PodView | null>}
   */
  async pod(_namespace, _name) {
    return null;
  }
}

class ServerSource {
  live = true;
  #token = "";
  /** @type {Listener | null} */
  #listener = null;
  /** @type {View | null} */
  #view = null;
  #seq = 0;
  #wait = FIRST_WAIT_MS;
  #running = false;

  /** @param {Listener} listener */
  start(listener) {
    this.#listener = listener;
    void this.#follow();
  }

  /**
   * The token stays in memory: it is gone when the page is.
   * @param {string} token
   */
  unlock(token) {
    this.#token = token;
    void this.#follow();
  }

  /**
   * @param {string} namespace
   * @param {string} name
   * @returns {Promise<PodView | null>}
   */
  async pod(namespace, name) {
    const answer = await this.#get(`api/pod/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`);
    return answer.status === 404 ? null : await checked(answer).json();
  }

  /**
   * @param {string} address
   * @param {AbortSignal} [signal]
   */
  #get(address, signal) {
    /** @type {Record<string, string>} */
    const headers = this.#token ? { Authorization: `Bearer ${this.#token}` } : {};
    return fetch(address, { headers, signal, cache: "no-store", credentials: "omit" });
  }

  /** Until the page is closed, or the server wants to know who asks. */
  async #follow() {
    if (this.#running) return;
    this.#running = true;
    this.#wait = FIRST_WAIT_MS;
    while (this.#running) {
      try {
        await this.#readStream();
      } catch (error) {
        if (error instanceof Refused) {
          this.#running = false;
          this.#listener?.state(error.status === 401 ? "locked" : "refused", error.message);
          return;
        }
      }
      this.#listener?.state("lost", "Connection lost, trying again");
      await new Promise((resolve) => setTimeout(resolve, this.#wait));
      this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
    }
  }

  /** The stream begins with the whole document, so that to connect again is to read it anew. */
  async #readStream() {
    const silence = new AbortController();
    const answer = await this.#get("api/stream", silence.signal);
    if (answer.status === 401 || answer.status === 403) throw new Refused(answer.status, await reason(answer));
    const reader = checked(answer).body?.pipeThrough(new TextDecoderStream()).getReader();
    this.#view = null;
    /** @type {string[]} */
    let rest = [];
    for (;;) {
      const timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const { done, value } = (await reader?.read()) ?? { done: true, value: "" };
      clearTimeout(timer);
      if (done) return;
      // A line of many megabytes comes in many pieces: they are joined once, when its end is there.
      const [end, ...begun] = value.split("\n");
      rest.push(end);
      for (const piece of begun) {
        const line = rest.join("");
        rest = [piece];
        if (line.trim()) this.#take(JSON.parse(line));
      }
    }
  }

  /** @param {Message} message */
  #take(message) {
    if (message.message) this.#listener?.state("lost", message.message);
    if (message.view) {
      this.#view = message.view;
      this.#wait = FIRST_WAIT_MS;
    } else if (!message.patch || !this.#view) return;
    else if (message.seq !== this.#seq + 1) throw new Error("a change was missed");
    for (const change of message.patch ?? []) applyChange(this.#view, change);
    this.#seq = message.seq;
    this.#listener?.state("following", "");
    this.#listener?.changed(this.#view);
  }
}

class Refused extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @param {Response} answer */
function checked(answer) {
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer;
}

/** @param {Response} answer */
async function reason(answer) {
  const text = (await answer.text()).slice(0, 1000);
  try {
    return String(JSON.parse(text).message ?? text);
  } catch {
    return text;
  }
}

/**
 * Sets a value, or elements of a column, where the path says; a row past the end is added.
 * @param {any} document
 * @param {Change} change
 */
export function applyChange(document, { path, value, rows, values, length }) {
  const holder = path.slice(0, -1).reduce((part, key) => part[key], document);
  const last = path[path.length - 1];
  if (!rows && length === undefined) {
    holder[last] = value;
    return;
  }
  const column = holder[last];
  if (length !== undefined && column.length > length) column.length = length;
  rows?.forEach((row, index) => {
    column[row] = values?.[index];
  });
}
