// Finds pods and nodes by words: all words must be found; `node:a ns:shop` asks one field.

/** @import {ClusterTable} from "./cluster.js" */

/** @typedef {{ field: string, word: string }} Term */

const FIELDS = ["pod", "node", "ns", "namespace", "owner", "reason", "state"];

/**
 * @param {string} query
 * @returns {Term[]}
 */
function readTerms(query) {
  return query
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      const colon = word.indexOf(":");
      const field = word.slice(0, Math.max(colon, 0));
      return FIELDS.includes(field) ? { field, word: word.slice(colon + 1) } : { field: "", word };
    });
}

/**
 * Which strings of the cluster have the word; each is looked at once, however many pods share it.
 * @param {ClusterTable} cluster
 * @param {string} word
 */
function stringsWith(cluster, word) {
  return cluster.lowerStrings.map((text) => text.includes(word));
}

/**
 * @param {ClusterTable} cluster
 * @param {Term} term
 * @returns {(row: number) => boolean}
 */
function podTest(cluster, { field, word }) {
  const has = stringsWith(cluster, word);
  const nodes = cluster.nodes.name.map((name) => name.toLowerCase().includes(word));
  const { namespace, name, owner, node, state, message } = cluster.pods;
  /** @type {Record<string, (row: number) => boolean>} */
  const tests = {
    pod: (row) => name[row].toLowerCase().includes(word),
    ns: (row) => has[namespace[row]],
    namespace: (row) => has[namespace[row]],
    owner: (row) => has[owner[row]],
    node: (row) => node[row] >= 0 && nodes[node[row]],
    reason: (row) => has[message[row]],
    state: (row) => has[state[row]],
  };
  if (field) return tests[field];
  const all = [tests.namespace, tests.owner, tests.node, tests.reason, tests.state, tests.pod];
  return (row) => all.some((test) => test(row));
}

/**
 * Rows of the pods that have all the words.
 * @param {ClusterTable} cluster
 * @param {string} query
 */
export function findPods(cluster, query) {
  let rows = [...cluster.pods.name.keys()];
  for (const term of readTerms(query)) rows = rows.filter(podTest(cluster, term));
  return rows;
}

/**
 * Rows of the nodes that have all the words in their name, labels, state or taints.
 * @param {ClusterTable} cluster
 * @param {string} query
 */
export function findNodes(cluster, query) {
  let rows = [...cluster.nodes.name.keys()];
  for (const { word } of readTerms(query)) {
    const has = stringsWith(cluster, word);
    const columns = [
      ...Object.values(cluster.nodes.labels),
      cluster.nodes.state,
      cluster.nodes.taints,
      cluster.nodes.kind,
    ];
    rows = rows.filter(
      (row) => cluster.nodes.name[row].toLowerCase().includes(word) || columns.some((column) => has[column[row]]),
    );
  }
  return rows;
}
