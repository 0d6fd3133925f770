// Pods that wait, grouped by owner and reason, the biggest group first; each group opens to its whole diagnosis.

import { podLink } from "./cells.js";
import { element, emptyNote } from "./elements.js";
import { podParts } from "./pod_page.js";
import { routeTo } from "./routes.js";
import { cut, plural } from "./text.js";

/** @import {Context, Drawn, PendingGroup} from "./document.d.ts" */
/** @import {ClusterTable} from "./cluster.js" */

const MOST_GROUPS = 200;
const MOST_PODS = 10;

/**
 * @param {Context} context
 * @returns {Drawn}
 */
export function pendingView(context) {
  /** @type {Set<string>} */
  const open = new Set();
  let last = "";
  const body = element("div", {});
  function draw(/** @type {Context} */ { cluster }) {
    const groups = cluster?.document.pending ?? [];
    const text = JSON.stringify(groups);
    if (!cluster || text === last) return;
    if (!last && groups.length && groups.length <= 3) open.add(groupKey(cluster, groups[0]));
    last = text;
    body.replaceChildren(...pendingParts(cluster, groups, open));
  }
  draw(context);
  return { element: body, update: draw };
}

/**
 * @param {ClusterTable} cluster
 * @param {PendingGroup[]} groups
 * @param {Set<string>} open
 */
function pendingParts(cluster, groups, open) {
  if (!groups.length) return [emptyNote("No pod is waiting for a node.")];
  const all = groups.reduce((sum, group) => sum + group.pods.length, 0);
  const items = groups.slice(0, MOST_GROUPS).map((group) => groupBox(cluster, group, open));
  const left = groups.length - items.length;
  return [
    element("p", { class: "found" }, `${plural(all, "pod")} in ${plural(groups.length, "group")}`),
    ...items,
    left > 0 ? emptyNote(`… and ${plural(left, "smaller group")}.`) : "",
  ];
}

/**
 * @param {ClusterTable} cluster
 * @param {PendingGroup} group
 */
function groupKey(cluster, group) {
  return `${ownerOf(cluster, group)} ${group.message}`;
}

/**
 * @param {ClusterTable} cluster
 * @param {PendingGroup} group
 */
function ownerOf(cluster, group) {
  const first = group.pods[0];
  return cluster.text(cluster.pods.owner[first]) || cluster.pods.name[first];
}

/**
 * @param {ClusterTable} cluster
 * @param {PendingGroup} group
 * @param {Set<string>} open
 */
function groupBox(cluster, group, open) {
  const key = groupKey(cluster, group);
  const nearest = group.view?.nearest[0];
  const summary = element(
    "summary",
    {},
    element("span", { class: "many" }, plural(group.pods.length, "pod")),
    element(
      "span",
      { class: "who" },
      element("b", {}, element("bdi", {}, cut(ownerOf(cluster, group), 120))),
      element("small", {}, ` ${cut(cluster.text(cluster.pods.namespace[group.pods[0]]), 80)}`),
    ),
    element("span", { class: "why" }, cut(group.view?.sentence || group.message, 400)),
    nearest && element("span", { class: "near" }, `Nearest: ${cut(nearest.node, 80)}, ${cut(nearest.text, 200)}`),
  );
  const body = element("div", { class: "group" });
  const box = element("details", { open: open.has(key), toggle: fill }, summary, body);
  function fill() {
    if (box.open) open.add(key);
    else open.delete(key);
    if (box.open && !body.childElementCount) body.append(...groupParts(cluster, group));
  }
  fill();
  return box;
}

/**
 * @param {ClusterTable} cluster
 * @param {PendingGroup} group
 */
function groupParts(cluster, group) {
  const pods = group.pods.slice(0, MOST_PODS).map((row) => element("li", {}, podLink(cluster, row)));
  const left = group.pods.length - pods.length;
  const more = routeTo(["pods"], { q: `owner:${ownerOf(cluster, group)} state:pending`, in: cluster.document.name });
  return [
    element(
      "ul",
      { class: "inline" },
      ...pods,
      left > 0 && element("li", {}, element("a", { href: more }, `and ${left} more`)),
    ),
    ...(group.view ? podParts(cluster, group.view) : [element("p", {}, cut(group.message, 2000))]),
  ];
}
