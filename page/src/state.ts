// What is looked at, kept in the URL's fragment so that a link, the back button and a reload lead to the same place.

import type { Metric } from "./data/scope";
import { type Outside, outside, raw } from "./shared/outside";

export type View =
  | "findings"
  | "flame"
  | "calls"
  | "timeline"
  | "syscalls"
  | "processes"
  | "source"
  | "compare"
  | "about";

export type Mode = "merged" | "time" | "sandwich" | "difference";

export interface State {
  view: View;
  /** Of two recordings, which one is looked at where one is. */
  side: number;
  metric: Metric;
  /** `p3` is process 3, `t5` thread 5, empty all. */
  who: string;
  range: readonly [number, number] | null;
  search: string;
  /** Number of the finding that is lit, from 0; -1 for none. */
  finding: number;
  mode: Mode;
  /** Callees above callers. */
  upward: boolean;
  /** The flame graph's first level is the process, where there are several. */
  processes: boolean;
  /** Path of functions that is zoomed to. */
  zoom: readonly number[];
  /** The function that is looked at; -1 for none. */
  fn: number;
  /** The source file that is looked at. */
  file: Outside;
  /** Widths of a difference: `a` before, `b` after, `both` the larger of the two. */
  width: "a" | "b" | "both";
  /** Both sides of a difference as wide as each other. */
  normal: boolean;
}

export const START: State = {
  view: "findings",
  side: 0,
  metric: "cpu",
  who: "",
  range: null,
  search: "",
  finding: -1,
  mode: "merged",
  upward: false,
  processes: true,
  zoom: [],
  fn: -1,
  file: outside(""),
  width: "both",
  normal: false,
};

const VIEWS: readonly View[] = [
  "findings",
  "flame",
  "calls",
  "timeline",
  "syscalls",
  "processes",
  "source",
  "compare",
  "about",
];
const METRICS: readonly Metric[] = ["cpu", "off", "wall"];
const MODES: readonly Mode[] = ["merged", "time", "sandwich", "difference"];

/** The fragment of a state: what is as at the start is left out. */
export function toFragment(state: State): string {
  const out = new URLSearchParams();
  if (state.view !== START.view) out.set("view", state.view);
  if (state.side !== 0) out.set("side", String(state.side));
  if (state.metric !== START.metric) out.set("metric", state.metric);
  if (state.who) out.set("who", state.who);
  if (state.range) out.set("range", state.range.map((time) => time.toString(36)).join("-"));
  if (state.search) out.set("search", state.search);
  if (state.finding >= 0) out.set("finding", String(state.finding + 1));
  if (state.mode !== START.mode) out.set("mode", state.mode);
  if (state.upward) out.set("up", "1");
  if (!state.processes) out.set("processes", "0");
  if (state.zoom.length > 0) out.set("zoom", state.zoom.map((fn) => fn.toString(36)).join("."));
  if (state.fn >= 0) out.set("fn", state.fn.toString(36));
  if (state.file) out.set("file", raw(state.file));
  if (state.width !== START.width) out.set("width", state.width);
  if (state.normal) out.set("normal", "1");
  return out.toString();
}

/** The state of a fragment. What is not understood is as at the start: links come from anywhere. */
export function fromFragment(fragment: string): State {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const whole = (text: string | null, radix: number) => {
    const value = text === null ? Number.NaN : Number.parseInt(text, radix);
    return Number.isSafeInteger(value) && value >= 0 ? value : -1;
  };
  const one = <T extends string>(name: string, known: readonly T[], otherwise: T): T => {
    const value = given.get(name) as T;
    return known.includes(value) ? value : otherwise;
  };
  const range = (given.get("range") ?? "").split("-").map((time) => whole(time, 36));
  const zoom = (given.get("zoom") ?? "").split(".").filter(Boolean);
  const path = zoom.map((fn) => whole(fn, 36));
  return {
    view: one("view", VIEWS, START.view),
    side: Math.min(1, Math.max(0, whole(given.get("side"), 10))),
    metric: one("metric", METRICS, START.metric),
    who: /^[pt]\d+$/.test(given.get("who") ?? "") ? given.get("who")! : "",
    range: range.length === 2 && range[0]! >= 0 && range[1]! > range[0]! ? [range[0]!, range[1]!] : null,
    search: given.get("search") ?? "",
    finding: whole(given.get("finding"), 10) - (given.has("finding") ? 1 : 0),
    mode: one("mode", MODES, START.mode),
    upward: given.get("up") === "1",
    processes: given.get("processes") !== "0",
    zoom: path.every((fn) => fn >= 0) ? path : [],
    fn: whole(given.get("fn"), 36),
    file: outside(given.get("file") ?? ""),
    width: one("width", ["a", "b", "both"] as const, START.width),
    normal: given.get("normal") === "1",
  };
}
