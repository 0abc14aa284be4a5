// Which lanes the timeline has: a process each, and each of its threads where there are several.

import { programName } from "../data/process";
import type { Recording } from "../data/recording";
import { type Shown, show } from "../shared/outside";

export interface Lane {
  /** `p3` or `t5`, as the state's `who` has it. */
  who: string;
  label: Shown;
  detail: Shown;
  depth: number;
  threads: number[];
  /** ns since the start. */
  start: number;
  end: number;
}

/** Processes as a tree, each before its children: number and depth. */
export function processTree(recording: Recording): { process: number; depth: number }[] {
  const { processes } = recording.head;
  const children = new Map<number, number[]>();
  processes.forEach((process, number) => {
    const parent = process.parent ?? -1;
    const list = children.get(parent);
    if (list) list.push(number);
    else children.set(parent, [number]);
  });
  const out: { process: number; depth: number }[] = [];
  const pending = (children.get(-1) ?? []).map((process) => ({ process, depth: 0 })).reverse();
  while (pending.length > 0) {
    const at = pending.pop()!;
    out.push(at);
    const under = children.get(at.process) ?? [];
    for (let i = under.length - 1; i >= 0; i--) pending.push({ process: under[i]!, depth: at.depth + 1 });
  }
  return out;
}

export function lanes(recording: Recording): Lane[] {
  const { processes, threads, span_ns } = recording.head;
  const of: number[][] = processes.map(() => []);
  threads.forEach((thread, number) => {
    of[thread.process]?.push(number);
  });
  const out: Lane[] = [];
  for (const { process, depth } of processTree(recording)) {
    const row = processes[process]!;
    const own = of[process]!;
    out.push({
      who: `p${process}`,
      label: programName(row.program),
      detail: show(String(row.pid)),
      depth,
      threads: own,
      start: row.start_ns,
      end: row.end_ns ?? span_ns,
    });
    if (own.length < 2) continue;
    for (const number of own) {
      const thread = threads[number]!;
      out.push({
        who: `t${number}`,
        label: show(thread.name),
        detail: show(String(thread.tid)),
        depth: depth + 1,
        threads: [number],
        start: thread.start_ns,
        end: thread.end_ns ?? span_ns,
      });
    }
  }
  return out;
}

/** Rows of a table by thread: those of thread t are rows[start[t]] … rows[start[t + 1]], in order of time. */
export interface ByThread {
  start: Uint32Array;
  rows: Uint32Array;
}

export function byThread(thread: Uint32Array, threads: number): ByThread {
  const start = new Uint32Array(threads + 1);
  for (const number of thread) start[number + 1]!++;
  for (let i = 0; i < threads; i++) start[i + 1]! += start[i]!;
  const fill = start.slice(0, threads);
  const rows = new Uint32Array(thread.length);
  for (let row = 0; row < thread.length; row++) rows[fill[thread[row]!]!++] = row;
  return { start, rows };
}
