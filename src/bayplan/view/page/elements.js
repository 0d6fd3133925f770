// Makes elements of the page. Text becomes text nodes, never markup, and what others chose is cut.

import { cut, numberWord } from "./text.js";

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {Element} node
 * @param {Attributes} attributes
 */
function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, cut(value, 2000));
  }
}

/**
 * @param {Element} node
 * @param {Child[]} children
 */
function append(node, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : cut(child, 2000));
  }
}

/**
 * An element; a function among the attributes listens to the event of its name.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  setAttributes(node, attributes);
  append(node, children);
  return node;
}

/**
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 */
export function svgElement(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  setAttributes(node, attributes);
  append(node, children);
  return node;
}

/**
 * A name that others chose: it may be written from right to left without turning what is around it.
 * @param {unknown} value
 * @param {string} [className]
 */
export function nameText(value, className) {
  return element("bdi", { class: className }, cut(value));
}

/**
 * @param {string} href
 * @param {unknown} value
 */
export function nameLink(href, value) {
  return element("a", { href }, nameText(value));
}

/**
 * @param {string} title
 * @param {...Child} children
 */
export function section(title, ...children) {
  return element("section", {}, element("h2", {}, title), ...children);
}

/** @param {string} text */
export function emptyNote(text) {
  return element("p", { class: "empty" }, text);
}

/**
 * A drop-down with its label.
 * @param {string} label
 * @param {[string, string][]} options value and text
 * @param {string} chosen
 * @param {(value: string) => void} changed
 */
export function choice(label, options, chosen, changed) {
  const select = element("select", {
    id: `choose-${label.toLowerCase().replaceAll(" ", "-")}`,
    change: () => changed(select.value),
  });
  for (const [value, text] of options) select.append(element("option", { value, selected: value === chosen }, text));
  return element("label", { class: "choice" }, element("span", {}, label), select);
}

/**
 * A command line with a button that copies it.
 * @param {string} command
 */
export function commandLine(command) {
  const code = element("code", { tabindex: 0, "aria-label": "Command line" }, command);
  const button = element("button", { type: "button", class: "quiet", click: copy }, "Copy");
  async function copy() {
    try {
      await navigator.clipboard.writeText(command);
      button.textContent = "Copied";
    } catch {
      // A file, or a page over plain HTTP, may have no clipboard: then the text is selected for the person to copy.
      getSelection()?.selectAllChildren(code);
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1600);
  }
  return element("div", { class: "command" }, code, button);
}

/**
 * A table for a few rows; cells are names, numbers (to the right) or elements.
 * @param {string} caption
 * @param {string[]} columns
 * @param {Child[][]} rows
 */
export function smallTable(caption, columns, rows) {
  const numeric = columns.map((_, index) => rows.some((row) => typeof row[index] === "number"));
  const heads = columns.map((column, index) =>
    element("th", { scope: "col", class: numeric[index] ? "number" : null }, column),
  );
  const body = rows.map((row) =>
    element(
      "tr",
      {},
      ...row.map((cell, index) =>
        element("td", { class: numeric[index] ? "number" : null }, typeof cell === "number" ? numberWord(cell) : cell),
      ),
    ),
  );
  const table = element("table", {}, element("caption", { class: "unseen" }, caption));
  table.append(element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body));
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, table);
}
