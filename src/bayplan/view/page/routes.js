// Addresses inside the page: #/pods?q=web, #/pod/NAMESPACE/NAME, #/node/NAME, …

/** @import {Route} from "./document.d.ts" */

/**
 * @param {string} hash
 * @returns {Route}
 */
export function readRoute(hash) {
  const [path, query] = split(hash.replace(/^#\/?/, ""));
  const [page, ...parts] = path.split("/").map(decoded);
  return { page: page || "map", parts, query: new URLSearchParams(query) };
}

/** @param {string} text */
function split(text) {
  const mark = text.indexOf("?");
  return mark < 0 ? [text, ""] : [text.slice(0, mark), text.slice(mark + 1)];
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * @param {string[]} parts
 * @param {Record<string, string>} [query] empty values are left out
 */
export function routeTo(parts, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value);
  const tail = kept.length ? `?${new URLSearchParams(kept)}` : "";
  return `#/${parts.map(encodeURIComponent).join("/")}${tail}`;
}

/**
 * The same page with some of its query changed, without a new entry in the history.
 * @param {Route} route
 * @param {Record<string, string>} changes
 */
export function changeQuery(route, changes) {
  for (const [key, value] of Object.entries(changes)) {
    if (value) route.query.set(key, value);
    else route.query.delete(key);
  }
  const parts = route.page === "map" ? [] : [route.page, ...route.parts];
  history.replaceState(null, "", routeTo(parts, Object.fromEntries(route.query)));
}
