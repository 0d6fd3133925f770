// The scores of a decision: one row for a plugin, one column for a node, each score already weighted.

import { nodeLink } from "./cells.js";
import { element, nameText, smallTable } from "./elements.js";
import { cut, score } from "./text.js";

/** @import {Scores} from "./document.d.ts" */
/** @import {ClusterTable} from "./cluster.js" */

const MOST_NODES = 8;

/**
 * @param {ClusterTable | null} cluster
 * @param {Scores} scores
 */
export function scoreTable(cluster, scores) {
  const nodes = scores.nodes.slice(0, MOST_NODES);
  const lines = scores.plugins.map((plugin, index) => [
    element("span", {}, cut(plugin.name, 80), plugin.weight > 1 && element("small", {}, ` ×${plugin.weight}`)),
    ...nodes.map((node) =>
      scoreCell(
        node.scores[index],
        nodes.map((each) => each.scores[index] ?? 0),
      ),
    ),
  ]);
  const totals = nodes.map((node) => element("strong", {}, score(node.total)));
  const head = nodes.map((node) => (cluster ? nodeLink(cluster, node.name) : nameText(node.name)));
  const table = smallTable(
    "Scores by plugin and node",
    ["plugin", ...nodes.map((node) => cut(node.name, 40))],
    [...lines, ["total", ...totals]],
  );
  table.querySelectorAll("thead th").forEach((cell, index) => {
    if (index) cell.replaceChildren(head[index - 1]);
  });
  table.classList.add("scores");
  return table;
}

/**
 * @param {number | null} value
 * @param {number[]} others
 */
function scoreCell(value, others) {
  const best = value !== null && others.length > 1 && value === Math.max(...others) && Math.min(...others) < value;
  return element("span", { class: best ? "best" : null }, score(value));
}

/**
 * The scores that the document keeps of a bind: the node it got, and the next best.
 * @param {ClusterTable} cluster
 * @param {number} pod
 * @returns {Scores | null}
 */
export function decisionScores(cluster, pod) {
  const kept = cluster.document.decisions;
  const at = kept ? kept.pod.lastIndexOf(pod) : -1;
  if (!kept || at < 0) return null;
  const nodes = [{ name: cluster.nodes.name[kept.node[at]], total: kept.total[at], scores: kept.scores[at] }];
  const second = kept.runnerUpScores[at];
  if (kept.runnerUp[at] >= 0 && second) {
    nodes.push({ name: cluster.nodes.name[kept.runnerUp[at]], total: kept.runnerUpTotal[at] ?? 0, scores: second });
  }
  return { plugins: kept.plugins.map((name) => ({ name, weight: 1 })), nodes };
}

/**
 * How many nodes were as good.
 * @param {ClusterTable} cluster
 * @param {number} pod
 */
export function tieWords(cluster, pod) {
  const kept = cluster.document.decisions;
  const ties = kept?.ties[kept.pod.lastIndexOf(pod)] ?? 1;
  return ties > 1 ? ` ${ties} nodes had the best score; one of them was taken.` : "";
}
