// A table of very many rows: only those on the screen are in the page, two spacers stand for the others.

import { element } from "./elements.js";

/** @import {Child} from "./elements.js" */

/** @typedef {{ name: string, cell: (row: number) => Child, wide?: boolean, number?: boolean, narrow?: boolean }} Column */

const AROUND = 15;
const PRINTED = 400;

export class RowWindow {
  /** @type {number[]} */
  #rows = [];
  #rowHeight = 30;
  #first = -1;
  #last = -1;

  /**
   * @param {string} caption
   * @param {Column[]} columns `wide` ones are left out on a phone
   */
  constructor(caption, columns) {
    this.columns = columns;
    this.above = element("td", {});
    this.below = element("td", {});
    this.body = element("tbody", {});
    const heads = columns.map((column) => element("th", { scope: "col", class: columnClass(column) }, column.name));
    this.table = element(
      "table",
      { class: "rows" },
      element("caption", { class: "unseen" }, caption),
      element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", { class: "spacer", "aria-hidden": "true" }, element("tr", {}, this.above)),
      this.body,
      element("tbody", { class: "spacer", "aria-hidden": "true" }, element("tr", {}, this.below)),
    );
    this.more = element("p", { class: "printed" });
    this.element = element("div", { class: "window" }, this.table, this.more);
    this.moved = () => this.#draw(false);
    this.paper = matchMedia("print");
    this.reprint = () => this.#draw(true);
    addEventListener("scroll", this.moved, { passive: true });
    addEventListener("resize", this.moved, { passive: true });
    this.paper.addEventListener("change", this.reprint);
  }

  close() {
    removeEventListener("scroll", this.moved);
    removeEventListener("resize", this.moved);
    this.paper.removeEventListener("change", this.reprint);
  }

  /** @param {number[]} rows */
  show(rows) {
    this.#rows = rows;
    this.table.setAttribute("aria-rowcount", String(rows.length + 1));
    this.#draw(true);
    if (!this.element.isConnected) requestAnimationFrame(() => this.#draw(true));
  }

  /** @param {boolean} anew */
  #draw(anew) {
    const [first, last] = this.paper.matches ? [0, Math.min(PRINTED, this.#rows.length)] : this.#visible();
    if (!anew && first === this.#first && last === this.#last) return;
    this.#first = first;
    this.#last = last;
    this.body.replaceChildren(...this.#rows.slice(first, last).map((row, index) => this.#line(row, first + index)));
    this.above.style.height = `${first * this.#rowHeight}px`;
    this.below.style.height = this.paper.matches ? "0" : `${(this.#rows.length - last) * this.#rowHeight}px`;
    const left = this.#rows.length - last;
    this.more.textContent = left > 0 ? `… and ${left.toLocaleString("en-US")} more rows, which are not printed.` : "";
    this.#measure();
  }

  #visible() {
    const top = this.element.isConnected ? this.table.getBoundingClientRect().top : 0;
    const first = Math.max(0, Math.floor(-top / this.#rowHeight) - AROUND);
    const last = Math.min(this.#rows.length, first + Math.ceil(innerHeight / this.#rowHeight) + 2 * AROUND);
    return [Math.min(first, last), last];
  }

  /** A phone's rows, or large letters, are higher than thought: all rows are as high as the first that is drawn. */
  #measure() {
    const line = this.body.firstElementChild;
    const height = line ? line.getBoundingClientRect().height : 0;
    if (height < 8 || Math.abs(height - this.#rowHeight) < 0.5) return;
    this.#rowHeight = height;
    this.above.style.height = `${this.#first * height}px`;
    this.below.style.height = `${(this.#rows.length - this.#last) * height}px`;
  }

  /** @param {number} row @param {number} place */
  #line(row, place) {
    const cells = this.columns.map((column) => element("td", { class: columnClass(column) }, column.cell(row)));
    return element("tr", { "aria-rowindex": place + 2 }, ...cells);
  }
}

/** @param {Column} column */
function columnClass(column) {
  const { wide, number, narrow } = column;
  const names = [wide && "wide", number && "number", narrow && "narrow"].filter(Boolean);
  return names.join(" ") || null;
}
