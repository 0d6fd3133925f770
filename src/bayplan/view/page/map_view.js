// The map: the nodes of a cluster by topology, coloured by a measure, with the chosen node beside it.

import { shareCell } from "./bars.js";
import { nodeLink } from "./cells.js";
import { choice, element, emptyNote, nameText, section, smallTable } from "./elements.js";
import { meanShare } from "./map_drawing.js";
import { mapGroups } from "./map_layout.js";
import { nodeBars, nodeFacts, nodePods } from "./node_details.js";
import { NodeMap } from "./node_map.js";
import { STEP_LABELS } from "./palette.js";
import { changeQuery } from "./routes.js";
import { shortKey } from "./text.js";

/** @import {Context, Drawn, Route} from "./document.d.ts" */
/** @import {ClusterTable} from "./cluster.js" */
/** @import {MapChoice} from "./node_map.js" */

/**
 * @param {Context} context
 * @returns {Drawn}
 */
export function mapView({ cluster, route }) {
  if (!cluster) return { element: emptyNote("There is no cluster to draw.") };
  let shown = cluster;
  const groups = element("div", {});
  const panel = element("aside", { class: "panel", "aria-label": "Chosen node" });
  const map = new NodeMap(cluster, mapChoice(cluster, route), showNode, "Map of the cluster");
  function showNode(/** @type {number} */ row) {
    panel.replaceChildren(...(row < 0 ? hint() : nodePanel(shown, row)));
  }
  function redraw() {
    map.show(shown, mapChoice(shown, route));
    groups.replaceChildren(groupTable(shown, map.choice));
  }
  showNode(-1);
  groups.append(groupTable(cluster, map.choice));
  const body = element("div", { class: "beside" }, element("div", {}, map.element, legend(cluster)), panel);
  return {
    element: element("div", {}, mapControls(cluster, route, redraw), body, groups),
    update: (context) => {
      if (!context.cluster) return;
      shown = context.cluster;
      redraw();
      if (map.chosen >= shown.nodeCount) map.pick(-1);
      else if (!panel.contains(document.activeElement)) showNode(map.chosen);
    },
    close: () => map.close(),
  };
}

/**
 * What the address asks for, or what suits the cluster: by its first grouping, then by its second.
 * @param {ClusterTable} cluster
 * @param {Route} route
 * @returns {MapChoice}
 */
export function mapChoice(cluster, route) {
  const { groupings } = cluster.document;
  const asked = (/** @type {string} */ key, /** @type {string} */ otherwise) => {
    const value = route.query.get(key);
    if (value === "none") return "";
    return value && groupings.includes(value) ? value : otherwise;
  };
  const outer = asked("by", groupings[0] ?? "");
  const inner = asked("then", groupings.find((key) => key !== outer && nests(cluster, outer, key)) ?? "");
  const measures = cluster.measures;
  const by = measures.find((each) => each.key === route.query.get("colour")) ?? measures[0];
  return { outer, inner: inner === outer ? "" : inner, by };
}

/**
 * Whether each group of the inner key lies in one group of the outer, as racks lie in zones.
 * @param {ClusterTable} cluster
 * @param {string} outer
 * @param {string} inner
 */
function nests(cluster, outer, inner) {
  if (!outer) return false;
  const groups = cluster.groupsBy(inner);
  const within = (/** @type {number[]} */ rows) =>
    rows.every((row) => cluster.label(row, outer) === cluster.label(rows[0], outer));
  return groups.length < cluster.nodeCount && groups.every(([, rows]) => within(rows));
}

/**
 * @param {ClusterTable} cluster
 * @param {Route} route
 * @param {() => void} changed
 */
export function mapControls(cluster, route, changed) {
  const now = mapChoice(cluster, route);
  /** @type {[string, string][]} */
  const keys = [
    ["none", "nothing"],
    ...cluster.document.groupings.map((key) => /** @type {[string, string]} */ ([key, shortKey(key)])),
  ];
  const set = (/** @type {string} */ key) => (/** @type {string} */ value) => {
    changeQuery(route, { [key]: value });
    changed();
  };
  const measures = cluster.measures.map((each) => /** @type {[string, string]} */ ([each.key, each.label]));
  return element(
    "div",
    { class: "controls" },
    choice("Colour by", measures, now.by?.key ?? "", set("colour")),
    keys.length > 1 && choice("Group by", keys, now.outer || "none", set("by")),
    keys.length > 2 && choice("Then by", keys, now.inner || "none", set("then")),
  );
}

/** @param {ClusterTable} cluster */
export function legend(cluster) {
  const steps = STEP_LABELS.map((label, step) =>
    element("li", {}, element("span", { class: `swatch step-${step}` }), label),
  );
  const states = new Set(cluster.nodes.state.map((index) => cluster.text(index)));
  const used = cluster.nodes.used && element("li", {}, element("span", { class: "swatch used" }), "really used");
  const cordoned = [...states].some((state) => state.startsWith("Cordoned"));
  const down = [...states].some((state) => state && !state.startsWith("Cordoned"));
  return element(
    "ul",
    { class: "legend", "aria-label": "Colours" },
    ...steps,
    used,
    cordoned && element("li", {}, element("span", { class: "swatch cordoned" }), "cordoned"),
    down && element("li", {}, element("span", { class: "swatch down" }), "not ready"),
  );
}

function hint() {
  return [element("p", { class: "empty" }, "Choose a node to see what is on it: point, tap, or use the arrow keys.")];
}

/**
 * @param {ClusterTable} cluster
 * @param {number} row
 */
function nodePanel(cluster, row) {
  const name = cluster.nodes.name[row];
  const count = cluster.podsOn(row).length;
  return [
    element("h2", {}, nodeLink(cluster, name)),
    nodeFacts(cluster, row),
    ...nodeBars(cluster, row),
    element("h3", {}, `Pods (${count})`),
    ...nodePods(cluster, row, 12),
  ];
}

/**
 * The groups of the map in numbers: for paper, and for those who cannot see the map.
 * @param {ClusterTable} cluster
 * @param {MapChoice} chosen
 */
function groupTable(cluster, chosen) {
  if (!chosen.outer) return element("div", {});
  const measures = cluster.measures.filter((each) => !each.used).slice(0, 4);
  const rows = mapGroups(cluster, chosen.outer, "").map(({ label, rows }) => [
    nameText(label || "none"),
    rows.length,
    rows.reduce((sum, row) => sum + cluster.nodes.pods[row], 0),
    ...measures.map((by) => shareCell(meanShare(cluster, rows, by))),
  ]);
  const columns = [shortKey(chosen.outer), "nodes", "pods", ...measures.map((by) => by.label)];
  return section(`By ${shortKey(chosen.outer)}`, smallTable(`Nodes by ${shortKey(chosen.outer)}`, columns, rows));
}
