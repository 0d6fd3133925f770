// Horizontal bars: how much of something is taken, with the numbers in words beside it.

import { element } from "./elements.js";
import { stepOf } from "./palette.js";
import { percent, quantity, shortKey } from "./text.js";

/**
 * A bar alone; what it shows is said in words next to it.
 * @param {number | null} share
 * @param {number | null} [used]
 */
export function bar(share, used = null) {
  const box = element("span", { class: "bar", "aria-hidden": "true" });
  if (share !== null) {
    const fill = element("span", { class: `fill step-${stepOf(share)}` });
    fill.style.width = `${Math.min(Math.max(share, 0), 1) * 100}%`;
    box.append(fill);
  }
  if (used !== null) {
    const mark = element("span", { class: "used" });
    mark.style.width = `${Math.min(Math.max(used, 0), 1) * 100}%`;
    box.append(mark);
  }
  return box;
}

/**
 * A bar of which full is not hot: how much of what was wanted is there.
 * @param {number} share
 */
export function plainBar(share) {
  const fill = element("span", { class: "fill step-2" });
  fill.style.width = `${Math.min(share, 1) * 100}%`;
  return element("span", { class: "bar", "aria-hidden": "true" }, fill);
}

/**
 * @param {string} resource
 * @param {number} taken
 * @param {number} all
 * @param {number | null} used
 */
export function resourceBar(resource, taken, all, used) {
  const share = all ? taken / all : null;
  const words = `${quantity(resource, taken)} of ${quantity(resource, all)}`;
  return element(
    "div",
    { class: "resource" },
    element("span", { class: "what" }, shortKey(resource)),
    bar(share, used !== null && all ? used / all : null),
    element("span", { class: "figure" }, words, element("small", {}, ` ${percent(share)}`)),
    used !== null && element("span", { class: "under" }, `really used ${quantity(resource, used)}`),
  );
}

/**
 * What a pod asks for against the most that one node has free.
 * @param {{ resource: string, requested: number, free: number, node: string | null }} each
 */
export function shortageBar({ resource, requested, free, node }) {
  const most = Math.max(requested, free, 1);
  const lacking = requested > free;
  const asked = element("span", { class: `fill ${lacking ? "bad" : "good"}` });
  asked.style.width = `${(requested / most) * 100}%`;
  const has = element("span", { class: "fill step-1" });
  has.style.width = `${(Math.max(free, 0) / most) * 100}%`;
  const where = node ? ` on ${node}` : "";
  return element(
    "div",
    { class: "shortage" },
    element("strong", {}, shortKey(resource)),
    element("span", { class: "bar", "aria-hidden": "true" }, asked),
    element("span", { class: "figure" }, `asks for ${quantity(resource, requested)}`),
    element("span", {}),
    element("span", { class: "bar", "aria-hidden": "true" }, has),
    element(
      "span",
      { class: lacking ? "figure lacking" : "figure" },
      `most free ${quantity(resource, free)}${where}`,
      lacking && element("b", {}, ` · ${quantity(resource, requested - free)} missing`),
    ),
  );
}

/** @param {number | null} share */
export function shareCell(share) {
  return element("span", { class: "share" }, bar(share), percent(share));
}
