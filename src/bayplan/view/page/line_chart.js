// One series over time as a small drawing: an area under a line, with the value under the pointer.

import { element, svgElement } from "./elements.js";
import { count, cut } from "./text.js";

const WIDTH = 600;
const HEIGHT = 130;
const LEFT = 8;
const FOOT = 22;
const TOP = 8;

/**
 * @param {number[]} at
 * @param {string} name
 * @param {number[]} values
 * @param {{ at: number, text: string }[]} notes
 * @param {(when: number) => string} say
 */
export function lineChart(at, name, values, notes, say) {
  const most = values.reduce((high, value) => Math.max(high, value), 1);
  const [first, last] = [at[0], at[at.length - 1]];
  const x = (/** @type {number} */ when) => LEFT + ((when - first) / (last - first || 1)) * (WIDTH - 2 * LEFT);
  const y = (/** @type {number} */ value) => HEIGHT - FOOT - (value / most) * (HEIGHT - FOOT - TOP);
  const path = stepPath(at, values, x, y);
  const end = values[values.length - 1] ?? 0;
  const cursor = svgElement("line", { class: "cursor", y1: TOP, y2: HEIGHT - FOOT, x1: -9, x2: -9 });
  const now = element("span", { class: "now" }, count(end));
  const drawing = svgElement(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": `${cut(name, 60)}: from ${count(values[0] ?? 0)} to ${count(end)}, at most ${count(most)}`,
      pointermove: point,
      pointerleave: () => rest(),
    },
    svgElement("line", { class: "axis", x1: LEFT, x2: WIDTH - LEFT, y1: y(0), y2: y(0) }),
    ...notes
      .slice(0, 50)
      .map((note) => svgElement("line", { class: "note", x1: x(note.at), x2: x(note.at), y1: TOP, y2: y(0) })),
    svgElement("path", { class: "area", d: `${path}V${y(0)}H${x(first)}Z` }),
    svgElement("path", { class: "stroke", d: path }),
    svgElement("text", { x: LEFT, y: HEIGHT - 6 }, say(first)),
    svgElement("text", { x: WIDTH - LEFT, y: HEIGHT - 6, "text-anchor": "end" }, say(last)),
    cursor,
  );
  /** @param {PointerEvent} event */
  function point(event) {
    const place = drawing.getBoundingClientRect();
    const when =
      first + ((((event.clientX - place.left) / place.width) * WIDTH - LEFT) / (WIDTH - 2 * LEFT)) * (last - first);
    const index = Math.max(
      0,
      at.findLastIndex((each) => each <= when),
    );
    cursor.setAttribute("x1", String(x(at[index])));
    cursor.setAttribute("x2", String(x(at[index])));
    now.textContent = `${count(values[index] ?? 0)} at ${say(at[index])}`;
  }
  function rest() {
    cursor.setAttribute("x1", "-9");
    cursor.setAttribute("x2", "-9");
    now.textContent = count(end);
  }
  const head = element(
    "figcaption",
    {},
    element("b", {}, cut(name, 60)),
    now,
    element("small", {}, `most ${count(most)}`),
  );
  return element("figure", { class: "chart" }, head, drawing);
}

/**
 * Values hold until the next one, so the line has steps.
 * @param {number[]} at
 * @param {number[]} values
 * @param {(when: number) => number} x
 * @param {(value: number) => number} y
 */
function stepPath(at, values, x, y) {
  const parts = [`M${x(at[0]).toFixed(1)} ${y(values[0] ?? 0).toFixed(1)}`];
  for (let index = 1; index < at.length; index += 1) {
    if (values[index] === values[index - 1] && index < at.length - 1) continue;
    parts.push(`H${x(at[index]).toFixed(1)}V${y(values[index] ?? 0).toFixed(1)}`);
  }
  return parts.join("");
}
