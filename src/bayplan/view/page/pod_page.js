// A pod's page: first the one sentence, then what stands in the way, the numbers, and what would help.

import { shortageBar } from "./bars.js";
import { nodeLink, requestWords, stateMark } from "./cells.js";
import { commandLine, element, emptyNote, nameText, section, smallTable } from "./elements.js";
import { domainTable } from "./fleet_views.js";
import { routeTo } from "./routes.js";
import { decisionScores, scoreTable, tieWords } from "./score_tables.js";
import { count, cut, moment, plural, shortKey } from "./text.js";

/** @import {Context, Drawn, PodPolicy, PodView} from "./document.d.ts" */
/** @import {ClusterTable} from "./cluster.js" */

/**
 * @param {Context} context
 * @returns {Drawn}
 */
export function podPage(context) {
  const body = element("div", {}, emptyNote("Asking …"));
  let last = "";
  async function load(/** @type {Context} */ now) {
    const [namespace, name] = now.route.parts;
    let page = null;
    try {
      page = (await now.source.pod(namespace, name)) ?? foundPage(now, namespace, name);
    } catch (error) {
      if (!last) body.replaceChildren(emptyNote(`The pod could not be read: ${error}`));
      return;
    }
    const text = JSON.stringify(page);
    if (text === last) return;
    last = text;
    body.replaceChildren(
      ...(page ? pageParts(now.cluster, page) : [emptyNote(`There is no pod ${cut(namespace, 80)}/${cut(name, 80)}.`)]),
    );
  }
  void load(context);
  return { element: body, update: (now) => void load(now) };
}

/**
 * The page of a pod from the document alone: of a pod that waits as its group has it, of a bound one as its columns say.
 * @param {Context} context
 * @param {string} namespace
 * @param {string} name
 * @returns {PodView | null}
 */
function foundPage({ cluster, view }, namespace, name) {
  const row = cluster ? cluster.podRow(namespace, name) : -1;
  if (!cluster || row < 0) return null;
  const owner = cluster.text(cluster.pods.owner[row]);
  const group = cluster.pods.node[row] < 0 ? cluster.pendingGroup(row) : null;
  if (group?.view) return { ...group.view, namespace, name, owner };
  const node = cluster.podNode(row);
  const message = cluster.text(cluster.pods.message[row]);
  const at = cluster.pods.boundAt[row];
  const bound = at === null ? "" : `, bound at ${moment(at)}`;
  const sentence = node ? `It is on ${node}${bound}.${tieWords(cluster, row)}` : "It has no node.";
  return {
    namespace,
    name,
    owner,
    node,
    sentence,
    message,
    verdict: cluster.text(cluster.pods.state[row]),
    blocker: null,
    bars: [],
    groups: [],
    nearest: [],
    help: [],
    preemption: null,
    claims: [],
    gang: null,
    policy: null,
    scores: decisionScores(cluster, row),
    attempts: [],
    command: view.command,
  };
}

/**
 * @param {ClusterTable | null} cluster
 * @param {PodView} page
 */
function pageParts(cluster, page) {
  return [
    element(
      "p",
      { class: "crumbs" },
      element("a", { href: routeTo(["pods"], { q: `ns:${page.namespace}` }) }, nameText(page.namespace)),
      " / ",
    ),
    element("h1", {}, nameText(page.name), " ", stateMark(page.verdict)),
    element("p", { class: "sentence" }, cut(page.sentence, 1500)),
    ...podParts(cluster, page),
    commandLine(page.command),
  ];
}

/**
 * Everything under the sentence; the list of pending pods shows the same.
 * @param {ClusterTable | null} cluster
 * @param {PodView} page
 */
export function podParts(cluster, page) {
  const parts = [];
  if (page.blocker) parts.push(blockerLine(page.blocker));
  parts.push(podFacts(cluster, page));
  if (page.bars.length)
    parts.push(section("Asked for, against the most one node has free", ...page.bars.map(shortageBar)));
  if (page.groups.length) parts.push(groupSection(page));
  if (page.nearest.length) parts.push(section("Nearest misses", nearestList(cluster, page)));
  if (page.help.length)
    parts.push(
      section(
        "What would help",
        element("ul", { class: "help" }, ...page.help.map((line) => element("li", {}, cut(line, 600)))),
      ),
    );
  if (page.preemption) parts.push(section("Preemption", valueList(page.preemption)));
  if (page.claims.length) parts.push(section("Claims", claimTable(page)));
  if (page.policy) parts.push(section("Policy", ...policyParts(page.policy)));
  if (page.gang) parts.push(section("Gang", valueList(page.gang)));
  if (page.scores?.nodes.length) parts.push(section("Scores", scoreTable(cluster, page.scores)));
  if (page.attempts.length) parts.push(section("Attempts", attemptTable(cluster, page)));
  return parts;
}

/** @param {{ plugin: string, reason: string, nodes: number }} blocker */
function blockerLine(blocker) {
  return element(
    "p",
    { class: "blocker" },
    element("strong", {}, cut(blocker.reason, 300)),
    ` ${plural(blocker.nodes, "node")}`,
    blocker.plugin && element("small", {}, ` ${cut(blocker.plugin, 80)}`),
  );
}

/** @param {ClusterTable | null} cluster @param {PodView} page */
function podFacts(cluster, page) {
  const facts = element("dl", { class: "facts" });
  const row = cluster ? cluster.podRow(page.namespace, page.name) : -1;
  const add = (/** @type {string} */ label, /** @type {Node | string | number} */ value) => {
    if (value !== "")
      facts.append(element("dt", {}, label), element("dd", {}, typeof value === "string" ? nameText(value) : value));
  };
  add("Node", cluster && page.node ? nodeLink(cluster, page.node) : (page.node ?? ""));
  add("Owner", page.owner);
  if (cluster && row >= 0) {
    add("Requests", requestWords(cluster, row));
    add("Priority", cluster.pods.priority[row] ? count(cluster.pods.priority[row]) : "");
    add("Scheduler", cluster.text(cluster.pods.scheduler[row]));
  }
  add("Message", page.message);
  return facts;
}

/** @param {PodView} page */
function groupSection(page) {
  const all = page.groups.reduce((sum, group) => sum + group.nodes, 0);
  const rows = page.groups.map((group) => [
    group.nodes,
    element(
      "span",
      { class: "wrap" },
      cut(group.reason || "could take it", 300),
      group.plugin && element("small", {}, ` ${cut(group.plugin, 80)}`),
    ),
    element("small", { class: "wrap" }, whichWords(group)),
  ]);
  return section(
    `All ${plural(all, "node")}, by what they said`,
    smallTable("Nodes by reason", ["nodes", "reason", "which"], rows),
  );
}

/** @param {{ nodes: number, which: string[] }} group */
function whichWords(group) {
  const names = group.which.slice(0, 6).map((name) => cut(name, 60));
  const left = group.nodes - names.length;
  return names.join(", ") + (names.length && left > 0 ? ` and ${count(left)} more` : "");
}

/** @param {ClusterTable | null} cluster @param {PodView} page */
function nearestList(cluster, page) {
  const items = page.nearest.map(({ node, text }) =>
    element("li", {}, cluster ? nodeLink(cluster, node) : nameText(node), " ", element("span", {}, cut(text, 400))),
  );
  return element("ul", { class: "names" }, ...items);
}

/** @param {PodView} page */
function claimTable(page) {
  const rows = page.claims.map((claim) => [
    nameText(claim.name),
    cut(claim.state, 200),
    cut(claim.devices.join(", "), 400),
  ]);
  return smallTable("Claims", ["claim", "state", "devices"], rows);
}

/** @param {PodPolicy} policy */
function policyParts(policy) {
  const where =
    policy.domain === null ? "" : `; this pod is in ${shortKey(policy.topologyKey)} ${cut(policy.domain, 80)}`;
  return [
    element("p", {}, `${cut(`${policy.namespace}/${policy.name}`, 160)}${where}.`),
    policy.domains.length > 0 && domainTable(policy),
  ];
}

/** @param {ClusterTable | null} cluster @param {PodView} page */
function attemptTable(cluster, page) {
  const rows = page.attempts.map((each) => [
    moment(each.at),
    cut(each.result, 80),
    cluster && each.node ? nodeLink(cluster, each.node) : (each.node ?? ""),
    element("span", { class: "wrap" }, cut(each.message, 400)),
  ]);
  return smallTable("Attempts", ["at", "result", "node", "message"], rows);
}

/**
 * Fields that differ from kind to kind, as a list of names and values.
 * @param {Record<string, unknown>} fields
 */
function valueList(fields) {
  const list = element("dl", { class: "facts" });
  for (const [key, value] of Object.entries(fields)) {
    if (value === null || value === "" || (Array.isArray(value) && !value.length)) continue;
    list.append(element("dt", {}, cut(key, 60)), element("dd", {}, nameText(valueWords(value))));
  }
  return list;
}

/** @param {unknown} value @returns {string} */
function valueWords(value) {
  if (Array.isArray(value)) return value.slice(0, 20).map(valueWords).join(", ");
  if (value && typeof value === "object") {
    return Object.entries(value)
      .slice(0, 20)
      .map(([key, each]) => `${key} ${valueWords(each)}`)
      .join(", ");
  }
  return cut(value, 300);
}
