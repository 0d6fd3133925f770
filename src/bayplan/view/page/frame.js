// What is around every view: title, navigation, the choice of a cluster, tiles, the command line, and the connection.

import { commandLine, element } from "./elements.js";
import { routeTo } from "./routes.js";
import { count, cut } from "./text.js";

/** @import {Fact, Route, View} from "./document.d.ts" */

/** @typedef {{ page: string, label: string, number: number | null }} Entry */

/**
 * The views that have something to show.
 * @param {View} view
 * @param {number} at which cluster
 * @returns {Entry[]}
 */
export function entries(view, at) {
  const cluster = view.clusters[at];
  const waiting = cluster ? cluster.pending.reduce((sum, group) => sum + group.pods.length, 0) : 0;
  /** @type {[boolean, string, string, number | null][]} */
  const all = [
    [Boolean(cluster), "map", "Map", null],
    [view.clusters.length > 1, "compare", "Compare", null],
    [Boolean(cluster), "pods", "Pods", cluster?.pods.name.length ?? 0],
    [Boolean(cluster), "pending", "Pending", waiting],
    [Boolean(cluster), "nodes", "Nodes", cluster?.nodes.name.length ?? 0],
    [Boolean(view.timeline?.at.length), "time", "Time", null],
    [view.placements.length > 0, "placements", "Placements", view.placements.length],
    [view.policies.length > 0, "policies", "Policies", view.policies.length],
    [view.moves.length > 0, "moves", "Moves", view.moves.length],
    [view.tables.length > 0, "tables", "Tables", null],
  ];
  return all.filter(([shown]) => shown).map(([, page, label, number]) => ({ page, label, number }));
}

/**
 * @param {View} view
 * @param {Route} route
 * @param {number} at
 * @param {string} open the entry that is shown
 */
export function headerParts(view, route, at, open) {
  const name = view.clusters[at]?.name ?? "";
  const links = entries(view, at).map(({ page, label, number }) =>
    element(
      "a",
      { href: routeTo(page === "map" ? [] : [page], { in: name }), "aria-current": page === open ? "page" : null },
      number === null ? label : `${label} `,
      number !== null && element("span", { class: "badge" }, count(number)),
    ),
  );
  return [
    element(
      "div",
      { class: "top" },
      element("a", { class: "brand", href: "#/" }, "Bayplan"),
      element("span", { class: "title" }, cut(view.title, 120)),
      view.clusters.length > 1 && clusterSwitch(view, route, at),
      element("span", { id: "connection", role: "status" }),
    ),
    element("nav", { "aria-label": "Views" }, ...links),
  ];
}

/**
 * @param {HTMLElement} header
 * @param {Entry[]} named
 */
export function updateBadges(header, named) {
  const numbers = named.flatMap((entry) => (entry.number === null ? [] : [count(entry.number)]));
  header.querySelectorAll("nav .badge").forEach((badge, index) => {
    badge.textContent = numbers[index];
  });
}

/**
 * On a phone the open view's name may be beyond the edge.
 * @param {HTMLElement} header
 */
export function scrollToCurrent(header) {
  const nav = header.querySelector("nav");
  const link = nav?.querySelector("a[aria-current]");
  if (nav && link instanceof HTMLElement) nav.scrollLeft = link.offsetLeft - nav.offsetLeft - nav.clientWidth / 3;
}

/**
 * @param {View} view
 * @param {Route} route
 * @param {number} at
 */
function clusterSwitch(view, route, at) {
  const parts = route.page === "map" ? [] : [route.page, ...route.parts];
  const links = view.clusters.map((cluster, index) =>
    element(
      "a",
      {
        href: routeTo(parts, { ...Object.fromEntries(route.query), in: cluster.name }),
        "aria-current": index === at ? "true" : null,
      },
      cut(cluster.name || `cluster ${index + 1}`, 40),
    ),
  );
  return element("span", { class: "switch", role: "group", "aria-label": "Cluster" }, ...links);
}

/** @param {Fact[]} facts */
export function tiles(facts) {
  const tile = (/** @type {Fact} */ fact) =>
    element(
      "div",
      { class: `tile ${fact.good === null ? "" : fact.good ? "good" : "bad"}` },
      element("dt", {}, cut(fact.label, 60)),
      element("dd", {}, cut(fact.value, 40), fact.note && element("small", {}, cut(fact.note, 120))),
    );
  return element("dl", { class: "tiles" }, ...facts.map(tile));
}

/** @param {View} view */
export function footerParts(view) {
  const made = view.made && element("p", { class: "made" }, `As of ${cut(view.made, 40)}`);
  return [view.command && commandLine(view.command), made].filter((part) => part instanceof Node);
}

/**
 * Asks who is there, when the server wants to know; the token is sent with requests and kept nowhere.
 * @param {string} message
 * @param {(token: string) => void} given
 */
export function tokenForm(message, given) {
  const field = element("input", {
    type: "password",
    id: "token",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
  });
  const form = element(
    "form",
    {
      class: "token",
      submit: (/** @type {Event} */ event) => {
        event.preventDefault();
        given(field.value.trim());
      },
    },
    element("h1", {}, "Who is asking?"),
    element("p", {}, "This server shows what your account may read. Give it a token, for instance from:"),
    commandLine("kubectl create token NAME --namespace NAMESPACE"),
    element("label", { for: "token" }, "Token"),
    field,
    element("button", { type: "submit" }, "Show the cluster"),
    message && element("p", { class: "problem", role: "alert" }, cut(message, 500)),
    element("p", { class: "empty" }, "It stays in this page's memory and is gone when the page is closed."),
  );
  return form;
}
