// Placements over clusters, policies over domains, the rebalancer's moves, and tables of any command.

import { bar } from "./bars.js";
import { nodeLink } from "./cells.js";
import { element, emptyNote, nameLink, nameText, section, smallTable } from "./elements.js";
import { routeTo } from "./routes.js";
import { count, cut, moment, plural, score, shortKey } from "./text.js";

/** @import {Condition, Context, Drawn, Placement, Policy, Table} from "./document.d.ts" */

/**
 * @param {Context} context
 * @returns {Drawn}
 */
export function placementsView({ view }) {
  return { element: element("div", {}, ...view.placements.map(placementPart)) };
}

/** @param {Placement} placement */
function placementPart(placement) {
  const { namespace, name } = placement.placement;
  const regions = placement.byRegion.map((region) => {
    const zones = region.zones.map((zone) =>
      element(
        "div",
        { class: "zone" },
        element("b", {}, nameText(zone.zone || "no zone")),
        bar(zone.clusters ? zone.chosen.length / zone.clusters : 0),
        element("span", {}, `${count(zone.chosen.length)} of ${plural(zone.clusters, "cluster")}`),
        element("small", { class: "wrap" }, cut(zone.chosen.join(", "), 400)),
      ),
    );
    const chosen = region.zones.reduce((sum, zone) => sum + zone.chosen.length, 0);
    return element(
      "div",
      { class: "sheet region" },
      element("h3", {}, nameText(region.region || "no region"), element("small", {}, ` ${count(chosen)} chosen`)),
      ...zones,
    );
  });
  const decisions = placement.decisions.map((each) => [
    nameText(each.clusterName),
    score(each.score),
    each.replicas ?? "",
    element("span", { class: "wrap" }, cut(each.reason, 200)),
  ]);
  return section(
    cut(`${namespace}/${name}`, 160),
    placement.unscheduled > 0 &&
      element("p", { class: "blocker" }, `${plural(placement.unscheduled, "cluster")} missing`),
    conditionList(placement.conditions),
    element("div", { class: "regions" }, ...regions),
    decisions.length > 0 && element("h3", {}, "Chosen clusters"),
    decisions.length > 0 && smallTable("Chosen clusters", ["cluster", "score", "replicas", "reason"], decisions),
    placement.filters.length > 0 && element("h3", {}, "Filters"),
    placement.filters.length > 0 &&
      smallTable(
        "Filters",
        ["filter", "kept", "dropped", "who"],
        placement.filters.map((each) => [
          cut(each.name, 80),
          each.kept,
          each.dropped,
          element("small", { class: "wrap" }, cut(each.droppedClusters.slice(0, 20).join(", "), 400)),
        ]),
      ),
  );
}

/** @param {Condition[]} conditions */
function conditionList(conditions) {
  const lines = conditions
    .filter((each) => each.message)
    .map((each) => element("li", {}, `${cut(each.type, 60)}: ${cut(each.message, 400)}`));
  return lines.length ? element("ul", { class: "help" }, ...lines) : null;
}

/**
 * @param {Context} context
 * @returns {Drawn}
 */
export function policiesView({ view }) {
  return { element: element("div", {}, ...view.policies.map(policyPart)) };
}

/** @param {Policy} policy */
function policyPart(policy) {
  const rows = policy.domains.map((domain) => [
    nameText(domain.name),
    domain.wanted,
    domain.running,
    domain.ready,
    element("span", { class: domain.missing ? "lacking" : null }, element("b", {}, count(domain.missing))),
    bar(domain.wanted ? domain.running / domain.wanted : null),
  ]);
  return section(
    cut(`${policy.namespace}/${policy.name}`, 160),
    conditionList(policy.conditions),
    smallTable(
      `Domains of ${cut(policy.name, 80)}`,
      [shortKey(policy.topologyKey), "wanted", "running", "ready", "missing", "running of wanted"],
      rows,
    ),
  );
}

/**
 * @param {Context} context
 * @returns {Drawn}
 */
export function movesView({ view, cluster }) {
  if (!view.moves.length) return { element: emptyNote("Nothing is to be moved.") };
  const place = (/** @type {string} */ node) =>
    cluster && cluster.nodeRow(node) >= 0 ? nodeLink(cluster, node) : nameText(node);
  const rows = view.moves
    .slice(0, 2000)
    .map((move) => [
      moment(move.at),
      cluster
        ? nameLink(routeTo(["pod", move.namespace, move.pod], { in: cluster.document.name }), move.pod)
        : nameText(move.pod),
      nameText(move.namespace),
      place(move.from),
      place(move.to),
      element("span", { class: "wrap" }, cut(move.why, 300)),
    ]);
  return {
    element: section(
      plural(view.moves.length, "move"),
      smallTable("Moves", ["at", "pod", "namespace", "from", "to", "why"], rows),
    ),
  };
}

/**
 * @param {Context} context
 * @returns {Drawn}
 */
export function tablesView({ view }) {
  return { element: element("div", {}, ...view.tables.map(tablePart)) };
}

/** @param {Table} table */
function tablePart(table) {
  const best = new Set(table.best.map(([row, column]) => `${row} ${column}`));
  const rows = table.rows.slice(0, 2000).map((row, index) =>
    row.map((cell, column) => {
      const shown = typeof cell === "number" ? score(cell) : cut(cell, 200);
      return element("span", { class: best.has(`${index} ${column}`) ? "best" : null }, shown);
    }),
  );
  const part = smallTable(
    cut(table.title, 120),
    table.columns.map((column) => cut(column, 80)),
    rows,
  );
  part.querySelectorAll("tbody tr").forEach((line, index) => {
    line.querySelectorAll("td").forEach((cell, column) => {
      if (typeof table.rows[index][column] === "number") cell.classList.add("number");
    });
  });
  return section(cut(table.title, 120), part);
}
