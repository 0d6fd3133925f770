// The time line of a run: one small chart for each series over the same seconds, what happened, and the load of nodes.

import { element, emptyNote, section, smallTable } from "./elements.js";
import { lineChart } from "./line_chart.js";
import { loadStrip } from "./load_strip.js";
import { cut, moment } from "./text.js";

/** @import {Context, Drawn, Timeline} from "./document.d.ts" */

const MOST_ROWS = 200;

/**
 * @param {Context} context
 * @returns {Drawn}
 */
export function timeView({ view }) {
  const line = view.timeline;
  if (!line?.at.length) return { element: emptyNote("Nothing happened over time.") };
  const charts = line.series.map((series) => lineChart(line.at, series.name, series.values, line.notes, sayTime(line)));
  const parts = [
    element("div", { class: "charts" }, ...charts),
    line.notes.length && section("What happened", noteTable(line)),
    line.load?.length && section("CPU really used, by node", loadStrip(line.load)),
    section("In numbers", numberTable(line)),
  ];
  return { element: element("div", {}, ...parts.map((part) => part || null)) };
}

/**
 * Seconds, or, of a run in which no time passed, which attempt it was.
 * @param {Timeline} line
 */
function sayTime(line) {
  return (/** @type {number} */ at) => (line.unit === "s" ? moment(at) : `${at} ${cut(line.unit, 20)}`);
}

/** @param {Timeline} line */
function noteTable(line) {
  const rows = line.notes
    .slice(0, MOST_ROWS)
    .map((note) => [sayTime(line)(note.at), element("span", { class: "wrap" }, cut(note.text, 300))]);
  return smallTable("What happened", ["at", "what"], rows);
}

/**
 * The charts as a table, at most as many moments as a person reads.
 * @param {Timeline} line
 */
function numberTable(line) {
  const every = Math.max(1, Math.ceil(line.at.length / 24));
  const rows = [];
  for (let index = 0; index < line.at.length; index += every) {
    rows.push([sayTime(line)(line.at[index]), ...line.series.map((series) => series.values[index] ?? 0)]);
  }
  return smallTable("The time line in numbers", ["at", ...line.series.map((series) => cut(series.name, 60))], rows);
}
