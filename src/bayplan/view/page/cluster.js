// One cluster of the document, asked by row: its columns are read in place, and what takes time is worked out once.

/** @import {Amounts, Cluster, PendingGroup} from "./document.d.ts" */

/** What a person may colour nodes by: the share of a resource that is requested, or really used, or of pods. */
/** @typedef {{ key: string, label: string, resource: string, used: boolean }} Measure */

export class ClusterTable {
  /** @type {number[][] | null} */
  #podsByNode = null;
  /** @type {Map<string, number> | null} */
  #nodeRows = null;
  /** @type {Map<string, number> | null} */
  #podRows = null;
  /** @type {string[] | null} */
  #lowerStrings = null;

  /** @param {Cluster} document */
  constructor(document) {
    this.document = document;
    this.nodes = document.nodes;
    this.pods = document.pods;
    this.nodeCount = document.nodes.name.length;
    this.podCount = document.pods.name.length;
  }

  /** @param {number} index */
  text(index) {
    return this.document.strings[index] ?? "";
  }

  get lowerStrings() {
    this.#lowerStrings ??= this.document.strings.map((text) => text.slice(0, 4000).toLowerCase());
    return this.#lowerStrings;
  }

  /** @param {string} name */
  nodeRow(name) {
    this.#nodeRows ??= new Map(this.nodes.name.map((each, row) => [each, row]));
    return this.#nodeRows.get(name) ?? -1;
  }

  /** @param {string} namespace @param {string} name */
  podRow(namespace, name) {
    this.#podRows ??= new Map(this.pods.name.map((_, row) => [this.podKey(row), row]));
    return this.#podRows.get(`${namespace}/${name}`) ?? -1;
  }

  /** @param {number} row */
  podKey(row) {
    return `${this.text(this.pods.namespace[row])}/${this.pods.name[row]}`;
  }

  /** @param {number} row */
  podNode(row) {
    const node = this.pods.node[row];
    return node < 0 ? "" : this.nodes.name[node];
  }

  /** @param {number} row @returns {Amounts} */
  podRequests(row) {
    return this.document.requestSets[this.pods.requests[row]] ?? {};
  }

  /** @param {number} node */
  podsOn(node) {
    if (!this.#podsByNode) {
      this.#podsByNode = this.nodes.name.map(() => []);
      this.pods.node.forEach((where, row) => {
        if (where >= 0) this.#podsByNode?.[where].push(row);
      });
    }
    return this.#podsByNode[node] ?? [];
  }

  /** @param {number} node @param {string} key */
  label(node, key) {
    const column = this.nodes.labels[key];
    return column ? this.text(column[node]) : "";
  }

  /** @returns {Measure[]} */
  get measures() {
    const resources = this.document.resources.filter((resource) => resource !== "pods");
    const requested = resources.map((resource) => measure(resource, false));
    const used = resources.filter((resource) => this.nodes.used?.[resource]);
    const pods = this.nodes.allocatable.pods ? [measure("pods", false)] : [];
    return [...requested, ...pods, ...used.map((resource) => measure(resource, true))];
  }

  /** Share of a node that is taken, or null where it has none of it or nobody knows. @param {number} node @param {Measure} by */
  share(node, by) {
    return this.#shareOf(node, by.resource, by.used);
  }

  /** What is requested of the same resource, however nodes are coloured. @param {number} node @param {Measure} by */
  requestedShare(node, by) {
    return this.#shareOf(node, by.resource, false);
  }

  /** @param {number} node @param {Measure} by */
  usedShare(node, by) {
    return this.nodes.used?.[by.resource] ? this.#shareOf(node, by.resource, true) : null;
  }

  /** @param {number} node @param {string} resource @param {boolean} used */
  #shareOf(node, resource, used) {
    const all = this.nodes.allocatable[resource]?.[node];
    if (!all) return null;
    const taken = used ? this.nodes.used?.[resource]?.[node] : this.taken(node, resource);
    return taken === null || taken === undefined ? null : taken / all;
  }

  /** @param {number} node @param {string} resource */
  taken(node, resource) {
    return resource === "pods" ? this.nodes.pods[node] : (this.nodes.requested[resource]?.[node] ?? 0);
  }

  /** The group of pods that wait for the same reason as this one. @param {number} row @returns {PendingGroup | null} */
  pendingGroup(row) {
    return this.document.pending.find((group) => group.pods.includes(row)) ?? null;
  }

  /**
   * Rows of nodes by the value of a label, in the order of their names.
   * @param {string} key
   * @param {number[]} [rows]
   * @returns {[string, number[]][]}
   */
  groupsBy(key, rows = [...this.nodes.name.keys()]) {
    /** @type {Map<string, number[]>} */
    const groups = new Map();
    for (const row of rows) {
      const value = this.label(row, key);
      const group = groups.get(value);
      if (group) group.push(row);
      else groups.set(value, [row]);
    }
    return [...groups].sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }));
  }
}

/** @param {string} resource @param {boolean} used @returns {Measure} */
function measure(resource, used) {
  const word = resource === "pods" ? "count" : used ? "really used" : "requested";
  return { key: `${resource}:${used ? "used" : "requested"}`, label: `${resource} ${word}`, resource, used };
}
