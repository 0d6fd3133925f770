// A table with a search field over it: of pods, and of nodes.

import { element } from "./elements.js";
import { changeQuery } from "./routes.js";

/** @import {Context, Drawn, Route} from "./document.d.ts" */
/** @import {RowWindow} from "./row_window.js" */

/**
 * The words are kept in the address.
 * @param {RowWindow} table
 * @param {Route} route
 * @param {string} label
 * @param {string} placeholder
 * @param {{ find: (query: string) => number[], say: (found: number) => string, update: (context: Context) => void }} rows
 * @returns {Drawn}
 */
export function searchedTable(table, route, label, placeholder, rows) {
  const said = element("p", { class: "found", "aria-live": "polite" });
  const field = element("input", {
    type: "search",
    id: "search",
    "aria-label": label,
    placeholder,
    value: route.query.get("q") ?? "",
    autocomplete: "off",
    spellcheck: "false",
    input: () => {
      changeQuery(route, { q: field.value.trim() });
      search();
    },
  });
  function search() {
    const found = rows.find(field.value);
    said.textContent = rows.say(found.length);
    table.show(found);
  }
  search();
  return {
    element: element("div", {}, element("div", { class: "controls" }, field, said), table.element),
    update: (context) => {
      rows.update(context);
      search();
    },
    close: () => table.close(),
  };
}
