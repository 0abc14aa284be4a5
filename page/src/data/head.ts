// The head of the page's data: what is not a column. `crates/page/src/data.rs` writes it. Times are ns since the start.

import type { Outside, Outsides } from "../shared/outside";
import type { Place } from "./columns";

export interface Module {
  path: Outside;
  name: Outside;
  role: "program" | "library" | "kernel";
  build: Outside | null;
}

export interface Process {
  parent: number | null;
  pid: number;
  run: number;
  program: Outside;
  arguments: Outsides;
  directory: Outside | null;
  start_ns: number;
  exec_ns: number | null;
  end_ns: number | null;
  exit: number | null;
  cpu_ns: number | null;
  user_ns: number | null;
  /** The largest resident size, bytes. */
  memory: number | null;
}

export interface Thread {
  process: number;
  tid: number;
  name: Outside;
  start_ns: number;
  end_ns: number | null;
  cpu_ns: number | null;
}

export interface Series {
  name: Outside;
  x_label: Outside;
  y_label: Outside;
  y_unit: Outside;
  x: number[];
  y: number[];
  fit: number[];
}

export interface Fact {
  name: Outside;
  value: number;
  unit: Outside;
  source: Outside;
  sure: "exact" | "sampled" | "fitted";
}

export interface PathFrame {
  function: Outside;
  module: Outside;
  file: Outside | null;
  line: number | null;
}

/** A finding as `docs/findings-json.md` has it, with the reports' sentences and what it lights up. */
export interface Finding extends PathFrame {
  /** One of ours: it is no text from outside. */
  cause: string;
  title: Outside;
  confidence: "certain" | "likely" | "hint";
  basis: "cpu" | "wall" | "instructions";
  /** Absent where the basis is instructions: then no view of time has anything to light up. */
  cost_ns?: number;
  gain_ns?: number;
  share: number;
  path: PathFrame[];
  files: { path: Outside; ids: number[] }[];
  facts: Fact[];
  series: Series[];
  advice: Outside;
  fingerprint: Outside;
  said: {
    title: Outside;
    cost: Outside;
    gain: Outside | null;
    called: Outside | null;
    explanation: Outsides;
    /** The call path without what merely starts a program; recursion is told once. */
    path: { frame: PathFrame; times: number }[];
  };
  /** Numbers of functions and files. */
  lit: { guilty: number[]; path: number[]; files: number[] };
}

/** Where the CPU time goes, or the instructions: one function. */
export interface Hot extends PathFrame {
  self_ns: number;
  total_ns: number;
  self_instructions: number | null;
  total_instructions: number | null;
}

export interface About {
  slowpath: Outside;
  id: Outside;
  command: Outsides;
  directory: Outside;
  host: Outside;
  kernel: Outside;
  cpu: Outside;
  cpus: number;
  started_unix_ns: number;
  wall_ns: number;
  user_ns: number;
  sys_ns: number;
  exit: number | null;
  runs: number;
  attached: boolean;
  collectors: { name: Outside; how: Outside }[];
  degraded: Outsides;
  sampled_share: number;
  tracing_ns: number;
  /** Counted under valgrind; none in an ordinary recording. */
  instructions?: number | null;
}

/** What a comparison of timed pairs said (`docs/comparison-json.md`), as far as the page shows it. */
export interface Comparison {
  sides: { name: Outside; command: Outside; median: { wall_ns: number; user_ns: number; sys_ns: number } }[];
  verdict: "faster" | "slower" | "same" | "unknown";
  metric: Outside;
  indifferent: number;
  wall: Estimate | null;
  cpu: Estimate | null;
  failure: Outside | null;
  notes: Outsides;
}

export interface Estimate {
  ratio: number;
  low: number;
  high: number;
  level: number;
  p: number;
  pairs: number;
}

export interface Source {
  path: Outside;
  text: Outside;
  newer: boolean;
}

/** Where source files were taken from, and which were left out: by reason, the first of them by name. */
export interface SourceOrigin {
  folders: Outsides;
  left_out: { why: Outside; count: number; first: Outsides }[];
}

export interface Counted {
  function: number;
  calls: number;
  covered: number;
  inclusive_ns: number;
}

export interface Head {
  version: number;
  name: Outside;
  about: About;
  run: {
    facts: [Outside, Outside][];
    coverage: Outside;
    unseen: Outsides;
    nothing: Outsides;
    not_explained: Outsides;
    cut_short: Outside | null;
    /** CPU time that shares are of, ns: of everything that was sampled, daemons that nobody waited for included. */
    cpu_ns: number;
  };
  findings: {
    /** `complete_stacks_share` of the samples have a stack that reaches the start of its thread. */
    recording: { complete_stacks_share: number };
    findings: Finding[];
    hot: Hot[];
    notes: Outsides;
  };
  unit_ns: number;
  span_ns: number;
  modules: Module[];
  processes: Process[];
  threads: Thread[];
  files: { path: Outside; kind: Outside; size: number }[];
  /** Names of system calls. */
  calls: Outsides;
  counted: Counted[];
  texts: Outsides;
  sources?: Source[];
  source?: SourceOrigin;
  comparison?: Comparison;
  columns: Record<string, Place>;
}
