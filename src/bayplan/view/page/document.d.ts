// The document that the page draws, as bayplan.view makes it; docs/reference/json.md says what the fields mean.

export interface View {
  title: string;
  command: string;
  made: string | null;
  source: string;
  facts: Fact[];
  clusters: Cluster[];
  timeline: Timeline | null;
  placements: Placement[];
  policies: Policy[];
  moves: Move[];
  tables: Table[];
}

export interface Fact {
  label: string;
  value: string;
  note: string;
  good: boolean | null;
}

/** Resource names to amounts: cpu in millicores, all others in whole units. */
export type Amounts = Record<string, number>;

/** Columns; every number in an "index" column points into `strings`. */
export interface Cluster {
  name: string;
  summary: Record<string, number>;
  strings: string[];
  groupings: string[];
  resources: string[];
  nodes: NodeColumns;
  pods: PodColumns;
  requestSets: Amounts[];
  pending: PendingGroup[];
  decisions: Decisions | null;
}

export interface NodeColumns {
  name: string[];
  labels: Record<string, number[]>;
  allocatable: Record<string, number[]>;
  requested: Record<string, number[]>;
  used: Record<string, (number | null)[]> | null;
  pods: number[];
  state: number[];
  taints: number[];
  kind: number[];
}

export interface PodColumns {
  namespace: number[];
  name: string[];
  owner: number[];
  node: number[];
  state: number[];
  requests: number[];
  message: number[];
  attempts: number[];
  boundAt: (number | null)[];
  priority: number[];
  scheduler: number[];
}

export interface PendingGroup {
  pods: number[];
  message: string;
  view: PodView | null;
}

export interface Decisions {
  plugins: string[];
  pod: number[];
  node: number[];
  total: number[];
  scores: number[][];
  runnerUp: number[];
  runnerUpTotal: (number | null)[];
  runnerUpScores: (number[] | null)[];
  ties: number[];
}

export interface PodView {
  namespace: string;
  name: string;
  owner: string;
  verdict: string;
  node: string | null;
  sentence: string;
  message: string;
  blocker: { plugin: string; reason: string; nodes: number } | null;
  bars: { resource: string; requested: number; free: number; node: string | null }[];
  groups: { plugin: string; reason: string; nodes: number; which: string[] }[];
  nearest: { node: string; text: string }[];
  help: string[];
  preemption: Record<string, unknown> | null;
  claims: { name: string; state: string; devices: string[] }[];
  gang: Record<string, unknown> | null;
  policy: PodPolicy | null;
  scores: Scores | null;
  attempts: { at: string | number | null; result: string; node: string | null; message: string }[];
  command: string;
}

export interface Scores {
  plugins: { name: string; weight: number }[];
  nodes: { name: string; total: number; scores: (number | null)[] }[];
}

export interface Timeline {
  unit: string;
  at: number[];
  series: { name: string; values: number[] }[];
  notes: { at: number; text: string }[];
  load: { node: string; cpuUsed: (number | null)[]; every: number }[] | null;
}

export interface Placement {
  placement: { namespace: string; name: string };
  decisions: { clusterName: string; reason: string; score: number | null; replicas?: number }[];
  unscheduled: number;
  conditions: Condition[];
  filters: { name: string; kept: number; dropped: number; droppedClusters: string[] }[];
  byRegion: { region: string; zones: { zone: string; clusters: number; chosen: string[] }[] }[];
}

export interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
}

export interface PolicyNumbers {
  namespace: string;
  name: string;
  topologyKey: string;
  domains: { name: string; wanted: number; running: number; ready: number; missing: number }[];
}

export interface Policy extends PolicyNumbers {
  conditions: Condition[];
}

/** The policy that governs one pod, and the domain that this pod is in. */
export interface PodPolicy extends PolicyNumbers {
  domain: string | null;
}

export interface Move {
  at: string | number | null;
  namespace: string;
  pod: string;
  from: string;
  to: string;
  why: string;
}

export interface Table {
  title: string;
  columns: string[];
  rows: (string | number | null)[][];
  best: [number, number][];
}

/** One change of a document that a server sends: see source.js. */
export interface Change {
  path: (string | number)[];
  value?: unknown;
  rows?: number[];
  values?: unknown[];
  length?: number;
}

export interface Message {
  seq: number;
  view?: View;
  patch?: Change[];
  message?: string;
}

/** What every view is given. */
export interface Context {
  view: View;
  cluster: import("./cluster.js").ClusterTable | null;
  route: Route;
  source: import("./source.js").Source;
}

export interface Route {
  page: string;
  parts: string[];
  query: URLSearchParams;
}

/** What a view gives back: `update` takes a newer document in place; without it the view is made anew. */
export interface Drawn {
  element: HTMLElement;
  update?: (context: Context) => void;
  close?: () => void;
}
