// How a pod, a node, a state and requests look in any table or list.

import { element, nameLink } from "./elements.js";
import { routeTo } from "./routes.js";
import { cut, quantity, shortKey } from "./text.js";

/** @import {ClusterTable} from "./cluster.js" */

/**
 * Which cluster a link stays in.
 * @param {ClusterTable} cluster
 */
export function clusterQuery(cluster) {
  return { in: cluster.document.name };
}

/** @param {ClusterTable} cluster @param {number} row */
export function podLink(cluster, row) {
  const namespace = cluster.text(cluster.pods.namespace[row]);
  const name = cluster.pods.name[row];
  return nameLink(routeTo(["pod", namespace, name], clusterQuery(cluster)), cut(name, 120));
}

/** @param {ClusterTable} cluster @param {string} name */
export function nodeLink(cluster, name) {
  return name ? nameLink(routeTo(["node", name], clusterQuery(cluster)), cut(name, 120)) : "";
}

/** @param {string} state */
export function stateMark(state) {
  const word = state.toLowerCase();
  const kind =
    /bound|running|scheduled|succeeded/.test(word) && !word.startsWith("un")
      ? "good"
      : /pending|unsched|failed|preempt/.test(word)
        ? "bad"
        : "plain";
  return element("span", { class: `state ${kind}` }, cut(state, 40));
}

/** @param {ClusterTable} cluster @param {number} row */
export function requestWords(cluster, row) {
  const asks = Object.entries(cluster.podRequests(row));
  return asks.map(([resource, amount]) => `${shortKey(resource)} ${quantity(resource, amount)}`).join(" · ");
}
