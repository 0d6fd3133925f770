// One map of one cluster: canvas, pointer, keyboard. The map view has one, the comparison one for each side.

import { clusterQuery } from "./cells.js";
import { element } from "./elements.js";
import { drawMap } from "./map_drawing.js";
import { boxAt, layoutMap, mapGroups, nextBox } from "./map_layout.js";
import { readPalette } from "./palette.js";
import { routeTo } from "./routes.js";
import { cut, percent, plural, quantity } from "./text.js";

/** @import {ClusterTable, Measure} from "./cluster.js" */
/** @import {Group, MapLayout} from "./map_layout.js" */

/** @typedef {{ outer: string, inner: string, by: Measure }} MapChoice */

const ARROWS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"]);
const PAPER_WIDTH = 700;

export class NodeMap {
  chosen = -1;
  /** @type {MapLayout} */
  #layout = { width: 0, height: 0, boxes: [], titles: [] };
  /** @type {Group[]} */
  #groups = [];
  #print = false;

  /**
   * @param {ClusterTable} cluster
   * @param {MapChoice} choice
   * @param {(row: number) => void} picked
   * @param {string} name what it is a map of
   */
  constructor(cluster, choice, picked, name) {
    this.cluster = cluster;
    this.choice = choice;
    this.picked = picked;
    this.said = element("p", { class: "unseen", "aria-live": "polite" });
    this.tip = element("div", { class: "tip", role: "presentation", hidden: true });
    this.canvas = element("canvas", {
      tabindex: 0,
      role: "application",
      "aria-roledescription": "map of nodes",
      "aria-label": `${name}: ${plural(cluster.nodeCount, "node")}. Arrow keys go from node to node, Enter opens one.`,
      keydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
      pointermove: (/** @type {PointerEvent} */ event) => this.#hover(event),
      pointerleave: () => this.#hideTip(),
      click: (/** @type {MouseEvent} */ event) => this.#click(event),
    });
    this.element = element("div", { class: "map" }, this.canvas, this.tip, this.said);
    this.resizing = new ResizeObserver(() => this.#lay());
    this.resizing.observe(this.element);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.paper = matchMedia("print");
    this.redraw = () => this.draw();
    this.reprint = () => this.#lay(this.paper.matches);
    this.dark.addEventListener("change", this.redraw);
    this.paper.addEventListener("change", this.reprint);
  }

  close() {
    this.resizing.disconnect();
    this.dark.removeEventListener("change", this.redraw);
    this.paper.removeEventListener("change", this.reprint);
  }

  /**
   * @param {ClusterTable} cluster
   * @param {MapChoice} choice
   */
  show(cluster, choice) {
    const same = choice.outer === this.choice.outer && choice.inner === this.choice.inner;
    const placed = same && cluster.nodes.name.length === this.cluster.nodes.name.length;
    this.cluster = cluster;
    this.choice = choice;
    if (placed && this.#layout.width) this.draw();
    else {
      this.#groups = [];
      this.#lay();
    }
  }

  #lay(print = this.#print) {
    const width = print ? PAPER_WIDTH : Math.floor(this.element.clientWidth);
    if (!width) return;
    this.#print = print;
    if (!this.#groups.length) this.#groups = mapGroups(this.cluster, this.choice.outer, this.choice.inner);
    this.#layout = layoutMap(this.#groups, width, Math.max(360, innerHeight * 0.72));
    this.draw();
  }

  draw() {
    const scale = this.#print ? 3 : Math.max(1, devicePixelRatio || 1);
    const { width, height } = this.#layout;
    this.canvas.style.width = this.#print ? "100%" : `${width}px`;
    this.canvas.style.height = this.#print ? "auto" : `${height}px`;
    drawMap(this.canvas, this.#layout, this.cluster, this.choice.by, readPalette(this.#print), this.chosen, scale);
  }

  /** @param {number} row */
  pick(row) {
    this.chosen = row;
    this.draw();
    this.said.textContent = row < 0 ? "" : nodeWords(this.cluster, row).join(", ");
    this.picked(row);
  }

  /** @param {MouseEvent} event */
  #boxUnder(event) {
    const place = this.canvas.getBoundingClientRect();
    return boxAt(this.#layout, event.clientX - place.left, event.clientY - place.top);
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const box = this.#boxUnder(event);
    this.#hideTip();
    this.pick(box < 0 ? -1 : this.#layout.boxes[box].row);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "Enter" && this.chosen >= 0) {
      location.hash = routeTo(["node", this.cluster.nodes.name[this.chosen]], clusterQuery(this.cluster));
      return;
    }
    if (!ARROWS.has(event.key) || !this.#layout.boxes.length) return;
    event.preventDefault();
    const from = this.#layout.boxes.findIndex((box) => box.row === this.chosen);
    this.pick(this.#layout.boxes[nextBox(this.#layout, from, event.key)].row);
  }

  /** @param {PointerEvent} event */
  #hover(event) {
    if (event.pointerType === "touch") return;
    const box = this.#boxUnder(event);
    if (box < 0) return this.#hideTip();
    const { row, x, y, height } = this.#layout.boxes[box];
    const [name, ...lines] = nodeWords(this.cluster, row);
    this.tip.replaceChildren(element("b", {}, name), ...lines.map((line) => element("div", {}, line)));
    this.tip.hidden = false;
    const left = Math.min(x, this.element.clientWidth - this.tip.offsetWidth);
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${y + height + 6}px`;
  }

  #hideTip() {
    this.tip.hidden = true;
  }
}

/**
 * A node in a few words: for the tip, and for those who listen.
 * @param {ClusterTable} cluster
 * @param {number} row
 */
function nodeWords(cluster, row) {
  const { document, nodes } = cluster;
  const places = document.groupings.map((key) => cluster.label(row, key)).filter(Boolean);
  const lines = [cut(nodes.name[row], 80)];
  if (places.length) lines.push(cut(places.join(" · "), 120));
  const state = cluster.text(nodes.state[row]);
  if (state) lines.push(cut(state, 60));
  for (const resource of document.resources.filter((each) => each !== "pods")) {
    const all = nodes.allocatable[resource]?.[row];
    if (!all) continue;
    const taken = cluster.taken(row, resource);
    lines.push(`${resource} ${quantity(resource, taken)} of ${quantity(resource, all)} (${percent(taken / all)})`);
  }
  lines.push(plural(nodes.pods[row], "pod"));
  return lines;
}
