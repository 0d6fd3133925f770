// All pods, and the search: by pod, node, namespace, owner, state and reason.

import { nodeLink, podLink, requestWords, stateMark } from "./cells.js";
import { emptyNote, nameText } from "./elements.js";
import { RowWindow } from "./row_window.js";
import { findPods } from "./search.js";
import { searchedTable } from "./searched_table.js";
import { count, cut, plural } from "./text.js";

/** @import {Context, Drawn} from "./document.d.ts" */
/** @import {ClusterTable} from "./cluster.js" */

/**
 * @param {Context} context
 * @returns {Drawn}
 */
export function podsView({ cluster, route }) {
  if (!cluster) return { element: emptyNote("There are no pods.") };
  let shown = cluster;
  const table = new RowWindow(
    "Pods",
    podColumns(() => shown),
  );
  return searchedTable(table, route, "Search pods", "pod, node:, ns:, owner:, state: or reason:", {
    find: (query) => findPods(shown, query),
    say: (found) => `${count(found)} of ${plural(shown.podCount, "pod")}`,
    update: (context) => {
      shown = context.cluster ?? shown;
    },
  });
}

/**
 * @param {() => ClusterTable} cluster
 * @returns {import("./row_window.js").Column[]}
 */
function podColumns(cluster) {
  return [
    { name: "Pod", cell: (row) => podLink(cluster(), row) },
    {
      name: "Namespace",
      wide: true,
      cell: (row) => nameText(cluster().text(cluster().pods.namespace[row])),
    },
    { name: "State", narrow: true, cell: (row) => stateMark(cluster().text(cluster().pods.state[row])) },
    { name: "Node", cell: (row) => nodeLink(cluster(), cluster().podNode(row)) },
    { name: "Owner", wide: true, cell: (row) => nameText(cluster().text(cluster().pods.owner[row])) },
    { name: "Requests", wide: true, cell: (row) => requestWords(cluster(), row) },
    { name: "Reason", wide: true, cell: (row) => nameText(cut(cluster().text(cluster().pods.message[row]), 160)) },
  ];
}
