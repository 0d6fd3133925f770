// The page begins here: it takes the document from its source and draws the view that the address asks for.

import { ClusterTable } from "./cluster.js";
import { compareView } from "./compare_view.js";
import { element, emptyNote } from "./elements.js";
import { movesView, placementsView, policiesView, tablesView } from "./fleet_views.js";
import { entries, footerParts, headerParts, scrollToCurrent, tiles, tokenForm, updateBadges } from "./frame.js";
import { mapView } from "./map_view.js";
import { nodePage, nodesView } from "./nodes_view.js";
import { pendingView } from "./pending_view.js";
import { podPage } from "./pod_page.js";
import { podsView } from "./pods_view.js";
import { readRoute } from "./routes.js";
import { findSource } from "./source.js";
import { cut } from "./text.js";
import { timeView } from "./time_view.js";

/** @import {Context, Drawn, Route, View} from "./document.d.ts" */
/** @import {State} from "./source.js" */

/** @type {Record<string, (context: Context) => Drawn>} */
const VIEWS = {
  map: mapView,
  pods: podsView,
  pod: podPage,
  pending: pendingView,
  nodes: nodesView,
  node: nodePage,
  compare: compareView,
  time: timeView,
  placements: placementsView,
  policies: policiesView,
  moves: movesView,
  tables: tablesView,
};

/** Pages of one thing stand under the list it is in. */
const UNDER = new Map([
  ["pod", "pods"],
  ["node", "nodes"],
]);

class Page {
  source = findSource();
  header = /** @type {HTMLElement} */ (document.getElementById("header"));
  content = /** @type {HTMLElement} */ (document.getElementById("content"));
  footer = /** @type {HTMLElement} */ (document.getElementById("footer"));
  /** @type {View | null} */
  view = null;
  /** @type {(ClusterTable | undefined)[]} */
  tables = [];
  /** @type {Drawn | null} */
  drawn = null;
  facts = element("div", {});
  shows = "";
  headShows = "";
  footShows = "";
  /** @type {State} */
  state = "report";
  stateText = "";

  /** A document that came while a button was held down: what is under the pointer must not be replaced. */
  /** @type {View | null} */
  held = null;
  pressed = false;

  start() {
    addEventListener("hashchange", () => this.#open(true));
    addEventListener("pointerdown", () => {
      this.pressed = true;
    });
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => this.#released()));
    this.source.start({ changed: (view) => this.#take(view), state: (state, text) => this.#say(state, text) });
  }

  #released() {
    this.pressed = false;
    if (this.held) this.#take(this.held);
  }

  /** @param {View} view */
  #take(view) {
    this.held = this.pressed ? view : null;
    if (this.held) return;
    const first = this.view === null;
    this.view = view;
    this.tables = [];
    document.title = cut(view.title, 80) || "Bayplan";
    if (first || !this.drawn) this.#open(false);
    else this.#update(view);
  }

  /** @param {View} view */
  #update(view) {
    const focused = this.content.contains(document.activeElement) && document.activeElement?.getAttribute("href");
    const context = this.#context(view);
    this.#frame(context);
    if (this.drawn?.update) this.drawn.update(context);
    else if (otherParts(view) !== this.shows) this.#open(false);
    if (focused && document.activeElement === document.body) refocus(this.content, focused);
  }

  /** @param {boolean} moved whether a person went there, who then is taken to its beginning */
  #open(moved) {
    if (!this.view) return;
    this.drawn?.close?.();
    const context = this.#context(this.view);
    this.#frame(context);
    const make = VIEWS[context.route.page];
    this.drawn = make ? make(context) : { element: emptyNote("There is no such page.") };
    this.shows = this.drawn.update ? "" : otherParts(this.view);
    this.content.replaceChildren(this.facts, this.drawn.element);
    if (!moved) return;
    scrollTo(0, 0);
    this.content.focus({ preventScroll: true });
  }

  /**
   * @param {View} view
   * @returns {Context}
   */
  #context(view) {
    const route = readRoute(location.hash);
    if (route.page === "map" && !view.clusters.length) route.page = entries(view, -1)[0]?.page ?? "map";
    const at = clusterAt(view, route);
    if (at >= 0) this.tables[at] ??= new ClusterTable(view.clusters[at]);
    return { view, cluster: this.tables[at] ?? null, route, source: this.source };
  }

  /** @param {Context} context */
  #frame({ view, route }) {
    const open = UNDER.get(route.page) ?? route.page;
    const at = clusterAt(view, route);
    const named = entries(view, at);
    const head = JSON.stringify([
      view.title,
      view.clusters.map((each) => each.name),
      location.hash,
      named.map((each) => each.page),
    ]);
    if (this.headShows === head) updateBadges(this.header, named);
    else this.header.replaceChildren(...headerParts(view, route, at, open));
    if (this.headShows !== head) scrollToCurrent(this.header);
    this.headShows = head;
    const single = UNDER.has(route.page);
    this.facts.replaceChildren(...(view.facts.length && !single ? [tiles(view.facts)] : []));
    const foot = `${view.command} ${view.made}`;
    if (this.footShows !== foot) this.footer.replaceChildren(...footerParts(view));
    this.footShows = foot;
    // A pod's page has a command line of its own.
    this.footer.hidden = route.page === "pod";
    this.#say(this.state, this.stateText);
  }

  /**
   * @param {State} state
   * @param {string} text
   */
  #say(state, text) {
    this.state = state;
    this.stateText = text;
    if (state === "locked" || state === "refused") return this.#ask(text);
    const words = state === "following" ? "live" : text;
    const place = document.getElementById("connection");
    if (place) {
      place.className = state;
      // Said again only if it is another: those who listen hear every change.
      if (place.textContent !== words) place.textContent = words;
    } else if (state === "lost") this.content.replaceChildren(emptyNote(text));
  }

  /** @param {string} text */
  #ask(text) {
    this.drawn?.close?.();
    this.drawn = null;
    this.view = null;
    this.headShows = "";
    this.footShows = "";
    this.header.replaceChildren(element("div", { class: "top" }, element("span", { class: "brand" }, "Bayplan")));
    this.footer.replaceChildren();
    const source = this.source;
    if ("unlock" in source) this.content.replaceChildren(tokenForm(text, (token) => source.unlock(token)));
  }
}

/**
 * The cluster that the address names, else the last: what is there after a change.
 * @param {View} view
 * @param {Route} route
 */
function clusterAt(view, route) {
  const named = view.clusters.findIndex((cluster) => cluster.name === (route.query.get("in") ?? ""));
  return named >= 0 ? named : view.clusters.length - 1;
}

/**
 * What views without a way to update show: they are made anew only when it is another.
 * @param {View} view
 */
function otherParts({ timeline, placements, policies, moves, tables }) {
  return JSON.stringify([timeline, placements, policies, moves, tables]);
}

/**
 * @param {HTMLElement} within
 * @param {string} href
 */
function refocus(within, href) {
  for (const link of within.querySelectorAll("a")) if (link.getAttribute("href") === href) link.focus();
}

new Page().start();
