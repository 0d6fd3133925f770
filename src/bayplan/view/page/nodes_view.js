// The nodes as a table, and the page of one node.

import { shareCell } from "./bars.js";
import { clusterQuery, nodeLink } from "./cells.js";
import { element, emptyNote, nameText } from "./elements.js";
import { nodeBars, nodeFacts, nodePods } from "./node_details.js";
import { routeTo } from "./routes.js";
import { RowWindow } from "./row_window.js";
import { findNodes } from "./search.js";
import { searchedTable } from "./searched_table.js";
import { count, cut, plural, shortKey } from "./text.js";

/** @import {Context, Drawn} from "./document.d.ts" */
/** @import {ClusterTable} from "./cluster.js" */

/**
 * @param {Context} context
 * @returns {Drawn}
 */
export function nodesView({ cluster, route }) {
  if (!cluster) return { element: emptyNote("There are no nodes.") };
  let shown = cluster;
  const table = new RowWindow(
    "Nodes",
    nodeColumns(cluster, () => shown),
  );
  return searchedTable(table, route, "Search nodes", "name, zone, state or taint", {
    find: (query) => findNodes(shown, query),
    say: (found) => `${count(found)} of ${plural(shown.nodeCount, "node")}`,
    update: (context) => {
      shown = context.cluster ?? shown;
    },
  });
}

/**
 * @param {ClusterTable} first
 * @param {() => ClusterTable} cluster
 * @returns {import("./row_window.js").Column[]}
 */
function nodeColumns(first, cluster) {
  const places = first.document.groupings.slice(0, 3);
  const measures = first.measures.slice(0, 5);
  return [
    { name: "Node", cell: (row) => nodeLink(cluster(), cluster().nodes.name[row]) },
    ...places.map((key) => ({
      name: shortKey(key),
      wide: true,
      cell: (/** @type {number} */ row) => nameText(cluster().label(row, key)),
    })),
    {
      name: "State",
      wide: true,
      narrow: true,
      cell: (row) => nameText(cluster().text(cluster().nodes.state[row]) || "Ready"),
    },
    { name: "Pods", number: true, narrow: true, cell: (row) => count(cluster().nodes.pods[row]) },
    ...measures
      .filter((by) => by.resource !== "pods")
      .map((by, index) => ({
        name: by.label,
        wide: index > 0,
        cell: (/** @type {number} */ row) => shareCell(cluster().share(row, by)),
      })),
  ];
}

/**
 * @param {Context} context
 * @returns {Drawn}
 */
export function nodePage(context) {
  const body = element("div", {});
  function draw(/** @type {Context} */ { cluster, route }) {
    const name = route.parts[0] ?? "";
    const row = cluster ? cluster.nodeRow(name) : -1;
    if (!cluster || row < 0) {
      body.replaceChildren(emptyNote(`There is no node ${cut(name, 80)}.`));
      return;
    }
    const back = routeTo(["nodes"], clusterQuery(cluster));
    const pods = cluster.podsOn(row).length;
    body.replaceChildren(
      element("p", { class: "crumbs" }, element("a", { href: back }, "Nodes"), " / "),
      element("h1", {}, nameText(name)),
      nodeFacts(cluster, row),
      element("section", {}, element("h2", {}, "What is taken"), ...nodeBars(cluster, row)),
      element("section", {}, element("h2", {}, `Pods (${count(pods)})`), ...nodePods(cluster, row, 200)),
    );
  }
  draw(context);
  return { element: body, update: draw };
}
