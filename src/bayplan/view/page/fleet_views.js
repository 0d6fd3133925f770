// Placements over clusters, policies over domains, the rebalancer's moves, and tables of any command.

import { plainBar } from "./bars.js";
import { nodeLink, podLink } from "./cells.js";
import { element, emptyNote, nameText, section, smallTable } from "./elements.js";
import { count, cut, moment, plural, score, shortKey } from "./text.js";

/** @import {Condition, Context, Drawn, Move, Placement, Policy, PolicyNumbers, Table} from "./document.d.ts" */
/** @import {Child} from "./elements.js" */

const MOST_LINES = 2000;

/**
 * What the order of moves is called, where it is not a time.
 * @type {Record<string, string>}
 */
const ORDERS = { rebalancer: "wave", fit: "step" };

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
        plainBar(zone.clusters ? zone.chosen.length / zone.clusters : 0),
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
    .map((each) => element("li", {}, `${cut(each.type, 60)} is ${cut(each.status, 20)}: ${cut(each.message, 400)}`));
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
  return section(cut(`${policy.namespace}/${policy.name}`, 160), conditionList(policy.conditions), domainTable(policy));
}

/**
 * What is wanted in each domain, what is there and what is missing; a pod's page shows the same.
 * @param {PolicyNumbers} policy
 */
export function domainTable(policy) {
  const rows = policy.domains.map((domain) => [
    nameText(domain.name),
    domain.wanted,
    domain.running,
    domain.ready,
    element("span", { class: domain.missing ? "lacking" : null }, element("b", {}, count(domain.missing))),
    plainBar(domain.wanted ? domain.running / domain.wanted : 1),
  ]);
  return smallTable(
    `Domains of ${cut(policy.name, 80)}`,
    [shortKey(policy.topologyKey), "wanted", "running", "ready", "missing", "running of wanted"],
    rows,
  );
}

/**
 * @param {Context} context
 * @returns {Drawn}
 */
export function movesView({ view, cluster }) {
  if (!view.moves.length) return { element: emptyNote("Nothing is to be moved.") };
  const moves = view.moves.slice(0, MOST_LINES);
  const node = (/** @type {string} */ name) =>
    cluster && cluster.nodeRow(name) >= 0 ? nodeLink(cluster, name) : nameText(name);
  const pod = (/** @type {Move} */ move) => {
    const row = cluster ? cluster.podRow(move.namespace, move.pod) : -1;
    return cluster && row >= 0 ? podLink(cluster, row) : nameText(move.pod);
  };
  const order = ORDERS[view.source];
  const at = (/** @type {Move} */ move) => (order ? (move.at ?? "") : moment(move.at));
  /** @type {[string, (move: Move) => Child][]} */
  const columns = [
    ["pod", pod],
    ["namespace", (move) => nameText(move.namespace)],
    ["from", (move) => node(move.from)],
    ["to", (move) => node(move.to)],
  ];
  if (moves.some((move) => move.at !== null)) columns.unshift([order ?? "at", at]);
  if (moves.some((move) => move.why))
    columns.push(["why", (move) => element("span", { class: "wrap" }, cut(move.why, 300))]);
  const rows = moves.map((move) => columns.map(([, cell]) => cell(move)));
  const names = columns.map(([name]) => name);
  return { element: section(plural(view.moves.length, "move"), smallTable("Moves", names, rows)) };
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
  const rows = table.rows
    .slice(0, MOST_LINES)
    .map((row) =>
      row.map((cell) => (typeof cell === "number" ? cell : element("span", { class: "wrap" }, cut(cell, 300)))),
    );
  const title = cut(table.title, 120);
  const columns = table.columns.map((column) => cut(column, 80));
  const part = smallTable(title, columns, rows);
  const lines = part.querySelectorAll("tbody tr");
  for (const [row, column] of table.best) lines[row]?.children[column]?.classList.add("best");
  const left = table.rows.length - rows.length;
  return section(title, part, left > 0 && emptyNote(`… and ${plural(left, "more row")}.`));
}
