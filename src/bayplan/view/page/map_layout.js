// Where the boxes of a map go: groups in columns, inner groups as rows with a label, boxes as large as the place allows.

/** @import {ClusterTable} from "./cluster.js" */

/** @typedef {{ row: number, x: number, y: number, width: number, height: number }} Box */
/** @typedef {{ text: string, note: string, x: number, y: number, width: number, rows: number[], inner: boolean }} Title */
/** @typedef {{ width: number, height: number, boxes: Box[], titles: Title[] }} MapLayout */
/** @typedef {{ label: string, rows: number[], inner: [string, number[]][] }} Group */

/** Width and height of boxes, the largest first; the first four have room for text. */
const SIZES = [
  [190, 58],
  [150, 52],
  [120, 46],
  [92, 42],
  [60, 36],
  [44, 30],
  [32, 24],
  [24, 20],
  [18, 16],
  [14, 13],
  [11, 11],
  [9, 9],
  [7, 7],
];
const NARROWEST_COLUMN = 190;
const TITLE = 26;
const BETWEEN_GROUPS = 18;

/**
 * @param {ClusterTable} cluster
 * @param {string} outer label key, or "" for one group
 * @param {string} inner label key, or "" for none
 * @returns {Group[]}
 */
export function mapGroups(cluster, outer, inner) {
  /** @type {[string, number[]][]} */
  const groups = outer ? cluster.groupsBy(outer) : [["", [...cluster.nodes.name.keys()]]];
  return groups.map(([label, rows]) => ({
    label,
    rows,
    inner: inner ? cluster.groupsBy(inner, rows) : [["", rows]],
  }));
}

/**
 * @param {Group[]} groups
 * @param {number} width
 * @param {number} tallest how high the map may be, if boxes can be small enough
 * @returns {MapLayout}
 */
export function layoutMap(groups, width, tallest) {
  let layout = null;
  for (const [boxWidth, boxHeight] of SIZES) {
    layout = layoutWith(groups, width, boxWidth, boxHeight);
    if (layout.height <= tallest) return layout;
  }
  return /** @type {MapLayout} */ (layout);
}

/**
 * @param {Group[]} groups
 * @param {number} width
 * @param {number} boxWidth
 * @param {number} boxHeight
 * @returns {MapLayout}
 */
function layoutWith(groups, width, boxWidth, boxHeight) {
  const columns = Math.max(1, Math.min(groups.length, Math.floor(width / NARROWEST_COLUMN)));
  const columnWidth = (width - (columns - 1) * BETWEEN_GROUPS) / columns;
  const heights = new Array(columns).fill(0);
  /** @type {MapLayout} */
  const layout = { width, height: 0, boxes: [], titles: [] };
  for (const group of groups) {
    const column = heights.indexOf(Math.min(...heights));
    const x = column * (columnWidth + BETWEEN_GROUPS);
    heights[column] = placeGroup(layout, group, x, heights[column], columnWidth, boxWidth, boxHeight) + BETWEEN_GROUPS;
  }
  layout.height = Math.max(...heights) - BETWEEN_GROUPS;
  return layout;
}

/**
 * @param {MapLayout} layout
 * @param {Group} group
 * @param {number} x
 * @param {number} top
 * @param {number} width
 * @param {number} boxWidth
 * @param {number} boxHeight
 * @returns {number} where it ends
 */
function placeGroup(layout, group, x, top, width, boxWidth, boxHeight) {
  let y = top;
  if (group.label || group.rows.length > 0) {
    layout.titles.push({ text: group.label, note: "", x, y, width, rows: group.rows, inner: false });
    y += TITLE;
  }
  const longest = Math.max(...group.inner.map(([label]) => label.length));
  const labelWidth = longest ? Math.min(96, 12 + longest * 6.4) : 0;
  const gap = boxWidth > 40 ? 6 : boxWidth > 12 ? 2 : 1;
  for (const [label, rows] of group.inner) {
    if (label) layout.titles.push({ text: label, note: "", x, y, width: labelWidth - 6, rows, inner: true });
    y =
      placeBoxes(layout, rows, x + labelWidth, y, width - labelWidth, boxWidth, boxHeight, gap) +
      (longest ? gap + 2 : 0);
  }
  return y;
}

/**
 * @param {MapLayout} layout
 * @param {number[]} rows
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} boxWidth
 * @param {number} boxHeight
 * @param {number} gap
 * @returns {number} where they end
 */
function placeBoxes(layout, rows, left, top, width, boxWidth, boxHeight, gap) {
  const perLine = Math.max(1, Math.floor((width + gap) / (boxWidth + gap)));
  // Boxes with text share the line evenly; small ones keep their size, so that they can be compared.
  const wide = boxWidth >= 92 ? (width - gap * (perLine - 1)) / perLine : Math.min(boxWidth, width);
  rows.forEach((row, index) => {
    const x = left + (index % perLine) * (wide + gap);
    const y = top + Math.floor(index / perLine) * (boxHeight + gap);
    layout.boxes.push({ row, x, y, width: wide, height: boxHeight });
  });
  return top + Math.ceil(rows.length / perLine) * (boxHeight + gap) - gap + 2;
}

/**
 * The box at a point, or -1.
 * @param {MapLayout} layout
 * @param {number} x
 * @param {number} y
 */
export function boxAt(layout, x, y) {
  return layout.boxes.findIndex(
    (box) => x >= box.x && x < box.x + box.width + 1 && y >= box.y && y < box.y + box.height + 1,
  );
}

/**
 * The next box in the direction of an arrow key.
 * @param {MapLayout} layout
 * @param {number} from
 * @param {string} key
 */
export function nextBox(layout, from, key) {
  const last = layout.boxes.length - 1;
  if (key === "End") return last;
  if (from < 0 || key === "Home") return 0;
  if (key === "ArrowRight") return Math.min(from + 1, last);
  if (key === "ArrowLeft") return Math.max(from - 1, 0);
  return boxAbove(layout, from, key === "ArrowUp" ? -1 : 1);
}

/**
 * @param {MapLayout} layout
 * @param {number} from
 * @param {number} direction
 */
function boxAbove(layout, from, direction) {
  const start = layout.boxes[from];
  let best = from;
  let nearest = Number.POSITIVE_INFINITY;
  layout.boxes.forEach((box, index) => {
    const down = (box.y - start.y) * direction;
    if (down <= 0) return;
    const distance = down + Math.abs(box.x - start.x) * 3;
    if (distance < nearest) {
      nearest = distance;
      best = index;
    }
  });
  return best;
}
