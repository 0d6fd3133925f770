// The colours of pictures, read from style.css so that light, dark and print are written once.

/** Shares from which each colour of the scale holds. */
const STEPS = [0, 0.25, 0.5, 0.75, 0.9, 1.0001];

export const STEP_LABELS = ["under 25%", "25–50%", "50–75%", "75–90%", "90–100%", "over 100%"];

/** @typedef {{ steps: string[], empty: string, ink: string, muted: string, line: string, mark: string, bad: string, accent: string }} Palette */

/**
 * @param {boolean} print paper is always light
 * @returns {Palette}
 */
export function readPalette(print) {
  const probe = document.createElement("span");
  probe.className = print ? "light unseen" : "unseen";
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  const palette = {
    steps: STEPS.map((_, step) => colour(`step-${step}`)),
    empty: colour("box"),
    ink: colour("ink"),
    muted: colour("muted"),
    line: colour("line"),
    mark: colour("mark"),
    bad: colour("bad"),
    accent: colour("accent"),
  };
  probe.remove();
  return palette;
}

/**
 * @param {number} share
 */
export function stepOf(share) {
  let step = 0;
  while (step < STEPS.length - 1 && share >= STEPS[step + 1]) step += 1;
  return step;
}
