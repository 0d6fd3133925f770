// Two clusters side by side: before and after a change, or two configurations, and every pod that is elsewhere.

import { podLink, stateMark } from "./cells.js";
import { ClusterTable } from "./cluster.js";
import { choice, element, emptyNote, nameText, section, smallTable } from "./elements.js";
import { legend, mapChoice, mapControls } from "./map_view.js";
import { NodeMap } from "./node_map.js";
import { changeQuery } from "./routes.js";
import { RowWindow } from "./row_window.js";
import { count, cut } from "./text.js";

/** @import {Context, Drawn, View} from "./document.d.ts" */

/**
 * @param {Context} context
 * @returns {Drawn}
 */
export function compareView({ view, route }) {
  if (view.clusters.length < 2) return { element: emptyNote("There is nothing to compare.") };
  const last = view.clusters.length - 1;
  const at = (/** @type {string} */ key, /** @type {number} */ otherwise) => {
    const found = view.clusters.findIndex((cluster) => cluster.name === route.query.get(key));
    return found < 0 ? otherwise : found;
  };
  const sides = [at("left", 0), at("right", last)].map((index) => new ClusterTable(view.clusters[index]));
  const maps = sides.map(
    (side) => new NodeMap(side, mapChoice(side, route), () => {}, `Map of ${cut(side.document.name, 40)}`),
  );
  const pods = new RowWindow("Pods that are elsewhere", differenceColumns(sides));
  const rows = differing(sides[0], sides[1]);
  pods.show(rows);
  const controls = mapControls(sides[1], route, () => {
    maps.forEach((map, index) => {
      map.show(sides[index], mapChoice(sides[index], route));
    });
  });
  if (view.clusters.length > 2) controls.prepend(...sidePickers(view, route, sides));
  const heads = sides.map((side, index) =>
    element("div", {}, element("h2", {}, nameText(side.document.name)), maps[index].element),
  );
  return {
    element: element(
      "div",
      {},
      controls,
      element("div", { class: "sides" }, ...heads),
      legend(sides[1]),
      section("In numbers", summaryTable(view)),
      section(
        `Pods that are elsewhere (${count(rows.length)})`,
        rows.length ? pods.element : emptyNote("Every pod is where it was."),
      ),
    ),
    close: () => {
      for (const map of maps) map.close();
      pods.close();
    },
  };
}

/**
 * @param {View} view
 * @param {Context["route"]} route
 * @param {ClusterTable[]} sides
 */
function sidePickers(view, route, sides) {
  const names = view.clusters.map((cluster) => /** @type {[string, string]} */ ([cluster.name, cut(cluster.name, 40)]));
  return ["left", "right"].map((side, index) =>
    choice(side === "left" ? "Left" : "Right", names, sides[index].document.name, (name) => {
      changeQuery(route, { [side]: name });
      dispatchEvent(new HashChangeEvent("hashchange"));
    }),
  );
}

/** @param {View} view */
function summaryTable(view) {
  const all = new Set(view.clusters.flatMap((cluster) => Object.keys(cluster.summary)));
  const keys = [...all].filter((key) => view.clusters.some((cluster) => cluster.summary[key]));
  const rows = keys.map((key) => [
    cut(key, 60),
    ...view.clusters.map((cluster) => {
      const value = cluster.summary[key] ?? 0;
      const differs = value !== (view.clusters[0].summary[key] ?? 0);
      return element(differs ? "strong" : "span", {}, count(value));
    }),
  ]);
  return smallTable("Summary by cluster", ["", ...view.clusters.map((cluster) => cut(cluster.name, 40))], rows);
}

/**
 * Rows of the right cluster's pods whose node or state is another than on the left.
 * @param {ClusterTable} left
 * @param {ClusterTable} right
 */
function differing(left, right) {
  return [...right.pods.name.keys()].filter((row) => {
    const before = left.podRow(right.text(right.pods.namespace[row]), right.pods.name[row]);
    if (before < 0) return true;
    return (
      left.podNode(before) !== right.podNode(row) ||
      left.text(left.pods.state[before]) !== right.text(right.pods.state[row])
    );
  });
}

/**
 * @param {ClusterTable[]} sides
 * @returns {import("./row_window.js").Column[]}
 */
function differenceColumns([left, right]) {
  const before = (/** @type {number} */ row) =>
    left.podRow(right.text(right.pods.namespace[row]), right.pods.name[row]);
  return [
    { name: "Pod", cell: (row) => podLink(right, row) },
    { name: cut(left.document.name, 40), cell: (row) => whereabouts(left, before(row)) },
    { name: cut(right.document.name, 40), cell: (row) => whereabouts(right, row) },
    { name: "Why", wide: true, cell: (row) => nameText(cut(right.text(right.pods.message[row]), 160)) },
  ];
}

/**
 * @param {ClusterTable} cluster
 * @param {number} row
 */
function whereabouts(cluster, row) {
  if (row < 0) return element("small", {}, "not there");
  const node = cluster.podNode(row);
  return node ? nameText(node) : stateMark(cluster.text(cluster.pods.state[row]));
}
