// The load of nodes over time: a row for a node, a stripe for a moment, in the colours of the map.

import { element } from "./elements.js";
import { readPalette, stepOf } from "./palette.js";
import { cut, moment, percent, plural } from "./text.js";

/** @typedef {{ node: string, cpuUsed: (number | null)[], every: number }} NodeLoad */

const MOST_STRIPES = 400;

/** @param {NodeLoad[]} load */
export function loadStrip(load) {
  const shown = load.slice(0, MOST_STRIPES);
  const columns = Math.max(...shown.map((each) => each.cpuUsed.length), 1);
  const height = shown.length > 60 ? 4 : 14;
  const canvas = element("canvas", { width: columns, height: shown.length, role: "img", "aria-label": words(shown) });
  canvas.style.height = `${shown.length * height}px`;
  const said = element(
    "p",
    { class: "found" },
    `${plural(load.length, "node")}, ${moment(columns * (shown[0]?.every ?? 1))}`,
  );
  canvas.addEventListener("pointermove", (event) => {
    const place = canvas.getBoundingClientRect();
    const each = shown[Math.floor(((event.clientY - place.top) / place.height) * shown.length)];
    const column = Math.floor(((event.clientX - place.left) / place.width) * columns);
    if (each)
      said.textContent = `${cut(each.node, 80)} at ${moment(column * each.every)}: ${percent(each.cpuUsed[column] ?? null)}`;
  });
  draw(canvas, shown);
  return element("div", { class: "strip" }, canvas, said);
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {NodeLoad[]} load
 */
function draw(canvas, load) {
  const pen = canvas.getContext("2d");
  if (!pen) return;
  const palette = readPalette(false);
  load.forEach((each, row) => {
    each.cpuUsed.forEach((share, column) => {
      pen.fillStyle = share === null ? palette.empty : palette.steps[stepOf(share)];
      pen.fillRect(column, row, 1, 1);
    });
  });
}

/** @param {NodeLoad[]} load */
function words(load) {
  const most = load.map((each) =>
    each.cpuUsed.reduce((/** @type {number} */ high, share) => Math.max(high, share ?? 0), 0),
  );
  const busiest = most.indexOf(Math.max(...most));
  return `Load of ${plural(load.length, "node")} over time; the most is ${percent(most[busiest])} on ${cut(load[busiest].node, 80)}`;
}
