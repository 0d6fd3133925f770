// Numbers and names as people read them. Everything that is shown goes through here or is a constant.

const LONGEST = 300;

/**
 * A string that others chose, at most as long as a screen can take.
 * @param {unknown} value
 * @param {number} [longest]
 */
export function cut(value, longest = LONGEST) {
  const text = value === null || value === undefined ? "" : String(value);
  return text.length > longest ? `${text.slice(0, longest)}… (${count(text.length)} characters)` : text;
}

/** @param {number} value */
export function count(value) {
  return Math.round(value).toLocaleString("en-US");
}

/**
 * @param {number} value
 * @param {string} one
 * @param {string} [many]
 */
export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** @param {number | null} share */
export function percent(share) {
  if (share === null || !Number.isFinite(share)) return "–";
  return `${Math.round(share * 100)}%`;
}

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

/** @param {number} value */
function digits(value) {
  const places = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return String(Number(value.toFixed(places)));
}

/**
 * An amount of a resource: cpu comes in millicores, memory and storage in bytes.
 * @param {string} resource
 * @param {number} amount
 */
export function quantity(resource, amount) {
  if (resource === "cpu") return digits(amount / 1000);
  if (!isBytes(resource)) return count(amount);
  let step = 0;
  let value = amount;
  while (Math.abs(value) >= 1024 && step < BINARY.length - 1) {
    value /= 1024;
    step += 1;
  }
  return `${digits(value)}${step ? ` ${BINARY[step]}` : ""}`;
}

/** @param {string} resource */
function isBytes(resource) {
  return resource === "memory" || resource.includes("storage") || resource.startsWith("hugepages-");
}

/**
 * `topology.kubernetes.io/zone` is "zone" to people.
 * @param {string} key
 */
export function shortKey(key) {
  const slash = key.lastIndexOf("/");
  return cut(slash < 0 ? key : key.slice(slash + 1), 60);
}

/**
 * Seconds since the start of a run, or a time of day as it came.
 * @param {string | number | null} at
 */
export function moment(at) {
  if (at === null || at === undefined) return "";
  if (typeof at === "string") return cut(at, 60);
  if (at < 120) return `${digits(at)} s`;
  const minutes = Math.floor(at / 60);
  if (minutes < 120) return `${minutes} min ${Math.floor(at % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** @param {number} value */
export function numberWord(value) {
  return Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(5)));
}

/**
 * A score, to the hundredth: the parts must be seen to add up to the whole.
 * @param {number | null | undefined} value
 */
export function score(value) {
  return value === null || value === undefined ? "" : String(Number(value.toFixed(2)));
}
