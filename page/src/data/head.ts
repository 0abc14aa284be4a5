// The head of the page's data: what is not a column. `crates/page/src/data.rs` writes it. Times are ns since the start.

import type { Place } from "./columns";

export interface Module {
  path: string;
  name: string;
  role: "program" | "library" | "kernel";
  build: string | null;
}

export interface Process {
  parent: number | null;
  pid: number;
  run: number;
  program: string;
  arguments: string[];
  directory: string | null;
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
  name: string;
  start_ns: number;
  end_ns: number | null;
  cpu_ns: number | null;
}

export interface Series {
  name: string;
  x_label: string;
  y_label: string;
  y_unit: string;
  x: number[];
  y: number[];
  fit: number[];
}

export interface Fact {
  name: string;
  value: number;
  unit: string;
  source: string;
  sure: "exact" | "sampled" | "fitted";
}

export interface PathFrame {
  function: string;
  module: string;
  file: string | null;
  line: number | null;
}

/** A finding as `docs/findings-json.md` has it, with the reports' sentences and what it lights up. */
export interface Finding extends PathFrame {
  cause: string;
  title: string;
  confidence: "certain" | "likely" | "hint";
  basis: "cpu" | "wall" | "instructions";
  /** 0 where the basis is instructions: then no view of time has anything to light up. */
  cost_ns: number;
  share: number;
  gain_ns: number;
  path: PathFrame[];
  files: string[];
  facts: Fact[];
  series: Series[];
  advice: string;
  fingerprint: string;
  said: {
    title: string;
    cost: string;
    gain: string | null;
    called: string | null;
    explanation: string[];
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
  slowpath: string;
  id: string;
  command: string[];
  directory: string;
  host: string;
  kernel: string;
  cpu: string;
  cpus: number;
  started_unix_ns: number;
  wall_ns: number;
  user_ns: number;
  sys_ns: number;
  exit: number | null;
  runs: number;
  attached: boolean;
  collectors: { name: string; how: string }[];
  degraded: string[];
  lost: Record<string, number>;
  sampled_share: number;
  tracing_ns: number;
  /** Counted under valgrind; none in an ordinary recording. */
  instructions?: number | null;
}

/** What a comparison of timed pairs said (`docs/comparison-json.md`), as far as the page shows it. */
export interface Comparison {
  sides: { name: string; command: string; median: { wall_ns: number; user_ns: number; sys_ns: number } }[];
  verdict: "faster" | "slower" | "same" | "unknown";
  metric: string;
  indifferent: number;
  wall: Estimate | null;
  cpu: Estimate | null;
  failure: string | null;
  notes: string[];
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
  path: string;
  text: string;
  newer: boolean;
}

/** Where source files were taken from, and which were left out: by reason, the first of them by name. */
export interface SourceOrigin {
  folders: string[];
  left_out: { why: string; count: number; first: string[] }[];
}

export interface Counted {
  function: number;
  calls: number;
  covered: number;
  inclusive_ns: number;
}

export interface Head {
  version: number;
  name: string;
  about: About;
  run: {
    facts: [string, string][];
    coverage: string;
    unseen: string[];
    nothing: string[];
    cut_short: string | null;
    /** CPU time that shares are of, ns: of everything that was sampled, daemons that nobody waited for included. */
    cpu_ns: number;
  };
  findings: { findings: Finding[]; hot: Hot[]; notes: string[] };
  unit_ns: number;
  span_ns: number;
  modules: Module[];
  processes: Process[];
  threads: Thread[];
  files: { path: string; kind: string; size: number }[];
  /** Names of system calls. */
  calls: string[];
  counted: Counted[];
  texts: string[];
  sources?: Source[];
  source?: SourceOrigin;
  comparison?: Comparison;
  columns: Record<string, Place>;
}
