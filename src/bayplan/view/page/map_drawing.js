// Draws a laid-out map on a canvas: how full each node is by requests, and inside it what is really used.

import { stepOf } from "./palette.js";
import { cut, percent } from "./text.js";

/** @import {ClusterTable, Measure} from "./cluster.js" */
/** @import {Box, MapLayout, Title} from "./map_layout.js" */
/** @import {Palette} from "./palette.js" */

const TINY = 14;
/** How much of a box with words its bar takes. */
const LYING = 0.26;
const FONT = 'system-ui, -apple-system, "Segoe UI", "Liberation Sans", "DejaVu Sans", sans-serif';

/**
 * @param {HTMLCanvasElement} canvas
 * @param {MapLayout} layout
 * @param {ClusterTable} cluster
 * @param {Measure} by
 * @param {Palette} palette
 * @param {number} chosen row of the chosen node, or -1
 * @param {number} scale pixels of the screen to one of the layout
 */
export function drawMap(canvas, layout, cluster, by, palette, chosen, scale) {
  canvas.width = Math.round(layout.width * scale);
  canvas.height = Math.round(layout.height * scale);
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.scale(scale, scale);
  pen.textBaseline = "alphabetic";
  for (const title of layout.titles) drawTitle(pen, title, cluster, by, palette);
  for (const box of layout.boxes) drawBox(pen, box, cluster, by, palette);
  const outlined = layout.boxes.find((box) => box.row === chosen);
  if (outlined) outline(pen, outlined, palette.ink, 2);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Title} title
 * @param {ClusterTable} cluster
 * @param {Measure} by
 * @param {Palette} palette
 */
function drawTitle(pen, title, cluster, by, palette) {
  if (title.inner) {
    pen.font = `11px ${FONT}`;
    pen.fillStyle = palette.muted;
    pen.fillText(fitted(pen, title.text || "none", title.width), title.x, title.y + 10);
    return;
  }
  const nodes = `${title.rows.length} ${title.rows.length === 1 ? "node" : "nodes"} · ${percent(meanShare(cluster, title.rows, by))}`;
  pen.font = `11px ${FONT}`;
  pen.fillStyle = palette.muted;
  const noteWidth = pen.measureText(nodes).width;
  pen.fillText(nodes, title.x + title.width - noteWidth, title.y + 13);
  pen.font = `600 13px ${FONT}`;
  pen.fillStyle = palette.ink;
  pen.fillText(fitted(pen, title.text || "Nodes", title.width - noteWidth - 12), title.x, title.y + 13);
}

/**
 * The share of the sum, so that large nodes count for what they have.
 * @param {ClusterTable} cluster
 * @param {number[]} rows
 * @param {Measure} by
 */
export function meanShare(cluster, rows, by) {
  let taken = 0;
  let all = 0;
  for (const row of rows) {
    const share = cluster.share(row, by);
    const has = cluster.nodes.allocatable[by.resource]?.[row] ?? 0;
    if (share === null) continue;
    taken += share * has;
    all += has;
  }
  return all ? taken / all : null;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} width
 */
function fitted(pen, text, width) {
  let shown = cut(text, 80);
  if (pen.measureText(shown).width <= width) return shown;
  while (shown.length > 1 && pen.measureText(`${shown}…`).width > width) shown = shown.slice(0, -1);
  return `${shown}…`;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {ClusterTable} cluster
 * @param {Measure} by
 * @param {Palette} palette
 */
function drawBox(pen, box, cluster, by, palette) {
  const share = cluster.share(box.row, by);
  const requested = cluster.requestedShare(box.row, by);
  const used = cluster.usedShare(box.row, by);
  const roomy = box.width >= 80 && box.height >= 40;
  const corner = box.width > 40 ? 4 : box.width > 12 ? 2 : 0;
  pen.save();
  pen.beginPath();
  pen.roundRect(box.x, box.y, box.width, box.height, corner);
  pen.fillStyle = palette.empty;
  pen.fill();
  pen.clip();
  if (share !== null) {
    pen.fillStyle = palette.steps[stepOf(share)];
    if (roomy) {
      drawLying(pen, box, requested ?? 0, used, palette);
      drawSeams(pen, box, cluster, by, palette);
    }
    if (!roomy) drawStanding(pen, box, requested ?? 0, used, palette);
  }
  drawState(pen, box, cluster.text(cluster.nodes.state[box.row]), roomy, palette);
  pen.restore();
  if (roomy) drawWords(pen, box, cluster, share, palette);
}

/**
 * A box with text has its bar at the foot.
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {number} requested
 * @param {number | null} used
 * @param {Palette} palette
 */
function drawLying(pen, box, requested, used, palette) {
  const height = Math.round(box.height * LYING);
  const top = box.y + box.height - height;
  pen.fillRect(box.x, top, box.width * Math.min(requested, 1), height);
  if (used === null) return;
  pen.fillStyle = palette.mark;
  pen.fillRect(box.x, top + height / 2 - 1.5, box.width * Math.min(used, 1), 3);
}

/**
 * Where one pod's part of the bar ends and the next begins.
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {ClusterTable} cluster
 * @param {Measure} by
 * @param {Palette} palette
 */
function drawSeams(pen, box, cluster, by, palette) {
  const all = cluster.nodes.allocatable[by.resource]?.[box.row];
  const pods = cluster.podsOn(box.row);
  if (!all || pods.length > box.width / 4) return;
  const height = Math.round(box.height * LYING);
  pen.fillStyle = palette.empty;
  let x = box.x;
  for (const pod of pods) {
    const amount = by.resource === "pods" ? 1 : (cluster.podRequests(pod)[by.resource] ?? 0);
    x += (amount / all) * box.width;
    if (amount) pen.fillRect(x - 0.5, box.y + box.height - height, 1, height);
  }
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {number} requested
 * @param {number | null} used
 * @param {Palette} palette
 */
function drawStanding(pen, box, requested, used, palette) {
  // Of a box of a few pixels only the colour can be seen.
  const tiny = box.width < TINY;
  const height = tiny ? box.height : box.height * Math.min(requested, 1);
  pen.fillRect(box.x, box.y + box.height - height, box.width, height);
  if (used === null || tiny) return;
  pen.fillStyle = palette.mark;
  const inner = Math.max(1.5, box.width * 0.2);
  const usedHeight = box.height * Math.min(used, 1);
  pen.fillRect(box.x + (box.width - inner) / 2, box.y + box.height - usedHeight, inner, usedHeight);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {string} state
 * @param {boolean} roomy then there are words above, which lines would make hard to read
 * @param {Palette} palette
 */
function drawState(pen, box, state, roomy, palette) {
  if (!state) return;
  const cordoned = state.startsWith("Cordoned");
  pen.strokeStyle = cordoned ? palette.muted : palette.bad;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let x = box.x - box.height; x < box.x + box.width; x += 6) {
    pen.moveTo(x, box.y + box.height);
    pen.lineTo(x + box.height * (roomy ? LYING : 1), box.y + box.height * (roomy ? 1 - LYING : 0));
  }
  pen.stroke();
  if (!cordoned) outline(pen, box, palette.bad, 3);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {ClusterTable} cluster
 * @param {number | null} share
 * @param {Palette} palette
 */
function drawWords(pen, box, cluster, share, palette) {
  const middle = box.y + (box.height * (1 - LYING)) / 2;
  pen.font = `11px ${FONT}`;
  pen.fillStyle = palette.muted;
  const state = cluster.text(cluster.nodes.state[box.row]);
  const note = state ? cut(state, 12) : percent(share);
  const noteWidth = pen.measureText(note).width;
  pen.fillText(note, box.x + box.width - noteWidth - 7, middle + 4);
  pen.font = `12px ${FONT}`;
  pen.fillStyle = palette.ink;
  pen.fillText(fitted(pen, cluster.nodes.name[box.row], box.width - noteWidth - 20), box.x + 8, middle + 4);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {string} colour
 * @param {number} width
 */
function outline(pen, box, colour, width) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.strokeRect(box.x + width / 2, box.y + width / 2, box.width - width, box.height - width);
}
