// A node in full: what is taken of it, its state and taints, and its pods. The map has it beside itself, a node's page has it whole.

import { resourceBar } from "./bars.js";
import { clusterQuery, podLink, requestWords } from "./cells.js";
import { element, emptyNote, nameText } from "./elements.js";
import { routeTo } from "./routes.js";
import { cut, plural, shortKey } from "./text.js";

/** @import {ClusterTable} from "./cluster.js" */

/**
 * @param {ClusterTable} cluster
 * @param {number} row
 */
export function nodeFacts(cluster, row) {
  const facts = element("dl", { class: "facts" });
  const add = (/** @type {string} */ label, /** @type {string} */ value) => {
    if (value) facts.append(element("dt", {}, label), element("dd", {}, nameText(value)));
  };
  add("State", cluster.text(cluster.nodes.state[row]) || "Ready");
  for (const key of cluster.document.groupings) add(shortKey(key), cluster.label(row, key));
  add("Taints", cluster.text(cluster.nodes.taints[row]));
  add("Kind", cluster.text(cluster.nodes.kind[row]));
  return facts;
}

/**
 * @param {ClusterTable} cluster
 * @param {number} row
 */
export function nodeBars(cluster, row) {
  const { nodes, document } = cluster;
  const resources = document.resources.filter((resource) => nodes.allocatable[resource]?.[row]);
  if (nodes.allocatable.pods?.[row] && !resources.includes("pods")) resources.push("pods");
  return resources.map((resource) =>
    resourceBar(
      resource,
      cluster.taken(row, resource),
      nodes.allocatable[resource][row],
      nodes.used?.[resource]?.[row] ?? null,
    ),
  );
}

/**
 * @param {ClusterTable} cluster
 * @param {number} row
 * @param {number} most
 */
export function nodePods(cluster, row, most) {
  const pods = cluster.podsOn(row);
  if (!pods.length) return [emptyNote("No pods here.")];
  const list = element("ul", { class: "names" }, ...pods.slice(0, most).map((pod) => podItem(cluster, pod)));
  if (pods.length <= most) return [list];
  const all = routeTo(["pods"], { q: `node:${cluster.nodes.name[row]}`, ...clusterQuery(cluster) });
  return [list, element("p", {}, element("a", { href: all }, `All ${plural(pods.length, "pod")}`))];
}

/**
 * @param {ClusterTable} cluster
 * @param {number} pod
 */
function podItem(cluster, pod) {
  const namespace = cluster.text(cluster.pods.namespace[pod]);
  const asks = requestWords(cluster, pod);
  return element(
    "li",
    {},
    podLink(cluster, pod),
    element("small", {}, cut(namespace, 60)),
    element("small", { class: "asks" }, asks),
  );
}
