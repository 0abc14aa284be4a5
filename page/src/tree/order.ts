// Samples one after the other: a tree in which neighbours are merged only as long as nothing else comes between.

import { processFrame } from "../data/process";
import type { Recording } from "../data/recording";
import { type Scope, sampleRange, type Weights, within } from "../data/scope";
import { byThread } from "../timeline/lanes";
import { skeleton } from "./skeleton";
import { rowsOf, type Tree } from "./tree";

/**
 * What happened when: node of the merged tree and time of each moment, thread by thread. With `processes` threads of one process are
 * neighbours, and a node of process p is numbered p times the number of nodes higher.
 */
function moments(
  recording: Recording,
  scope: Scope,
  processes: boolean,
): { node: Float64Array; ns: Float64Array } {
  const { ofStack, count: nodes } = skeleton(recording);
  const { samples, syscalls } = recording;
  const threads = recording.head.threads.length;
  const on = byThread(samples.thread, threads);
  const off = byThread(syscalls.thread, threads);
  const [from, to] = sampleRange(recording, scope.range);
  const node = new Float64Array(samples.time.length + syscalls.time.length);
  const ns = new Float64Array(node.length);
  let count = 0;
  let first = 0;
  const add = (of: number, time: number) => {
    node[count] = first + of;
    ns[count++] = time;
  };
  const { threadProcess } = recording;
  const order = Array.from({ length: threads }, (_, thread) => thread);
  if (processes) order.sort((a, b) => threadProcess[a]! - threadProcess[b]! || a - b);
  for (const thread of order) {
    first = processes ? threadProcess[thread]! * nodes : 0;
    if (scope.threads && !scope.threads.has(thread)) continue;
    let i = on.start[thread]!;
    let j = off.start[thread]!;
    const ends = [on.start[thread + 1]!, off.start[thread + 1]!] as const;
    while (i < ends[0] || j < ends[1]) {
      const sample = i < ends[0] ? on.rows[i]! : -1;
      const call = j < ends[1] ? off.rows[j]! : -1;
      if (call < 0 || (sample >= 0 && samples.time[sample]! <= syscalls.time[call]!)) {
        i++;
        if (scope.metric === "off" || sample < from || sample >= to) continue;
        const stack = samples.stack[sample]!;
        add(stack < 0 ? 1 : ofStack[stack]!, samples.weight[sample]!);
      } else {
        j++;
        if (scope.metric === "cpu") continue;
        const asleep =
          syscalls.blocked[call]! * within(scope.range, syscalls.time[call]!, syscalls.span[call]!);
        if (asleep > 0) add(ofStack[syscalls.stack[call]!]!, asleep);
      }
    }
  }
  return { node: node.subarray(0, count), ns: ns.subarray(0, count) };
}

/** So many moments are drawn at most: more than any screen has pixels. */
const MOST = 50_000;

/** Joins neighbours so that there are at most `most`: the stack with the most time among them stands for all. */
export function joined(
  node: Float64Array,
  ns: Float64Array,
  most: number,
): { node: Float64Array; ns: Float64Array; each: number } {
  const each = Math.max(1, Math.ceil(node.length / most));
  if (each === 1) return { node, ns, each };
  const count = Math.ceil(node.length / each);
  const out = { node: new Float64Array(count), ns: new Float64Array(count), each };
  const times = new Map<number, number>();
  for (let group = 0; group < count; group++) {
    times.clear();
    let heaviest = -1;
    for (let i = group * each; i < Math.min(node.length, (group + 1) * each); i++) {
      const sum = (times.get(node[i]!) ?? 0) + ns[i]!;
      times.set(node[i]!, sum);
      out.ns[group]! += ns[i]!;
      if (heaviest < 0 || sum > times.get(heaviest)!) heaviest = node[i]!;
    }
    out.node[group] = heaviest;
  }
  return out;
}

/**
 * The tree in time order, one thread's moments behind another's; `each` of them are drawn as one where there are too many. With
 * `processes` the first level is the process.
 */
export function ordered(
  recording: Recording,
  scope: Scope,
  weights: Weights,
  processes = false,
): Tree & { each: number } {
  const nodes = skeleton(recording);
  const all = moments(recording, scope, processes);
  const { node: of, ns, each } = joined(all.node, all.ns, MOST);
  // Depth of each node of the merged tree, so that paths can be compared from the outside in.
  const depthOf = new Uint32Array(nodes.count);
  for (let i = 1; i < nodes.count; i++) depthOf[i] = depthOf[nodes.parent[i]!]! + 1;
  let room = 1024;
  let fn = new Uint32Array(room);
  let from = new Int32Array(room);
  let depth = new Uint32Array(room);
  let parent = new Int32Array(room);
  let start = new Float64Array(room);
  let total = new Float64Array(room);
  let self = new Float64Array(room);
  const grow = () => {
    room *= 2;
    const copy = <T extends Uint32Array | Int32Array | Float64Array>(old: T, made: T): T => {
      made.set(old);
      return made;
    };
    fn = copy(fn, new Uint32Array(room));
    from = copy(from, new Int32Array(room));
    depth = copy(depth, new Uint32Array(room));
    parent = copy(parent, new Int32Array(room));
    start = copy(start, new Float64Array(room));
    total = copy(total, new Float64Array(room));
    self = copy(self, new Float64Array(room));
  };
  fn[0] = nodes.fn[0]!;
  parent[0] = -1;
  let count = 1;
  let at = 0;
  let end = 0;
  const add = (node: number, number: number, above: number) => {
    if (count === room) grow();
    const made = count++;
    from[made] = node;
    fn[made] = number;
    depth[made] = depth[above]! + 1;
    parent[made] = above;
    start[made] = end;
    return made;
  };
  const path: number[] = [];
  // How much deeper a node is here than in the merged tree: by its process.
  const deeper = processes ? 1 : 0;
  let process = -1;
  for (let i = 0; i < of.length; i++) {
    const wanted = of[i]! % nodes.count;
    if (processes && Math.floor(of[i]! / nodes.count) !== process) {
      process = Math.floor(of[i]! / nodes.count);
      at = add(0, processFrame(process), 0);
    }
    // Outwards until what is open leads to what is wanted.
    path.length = 0;
    let inner = wanted;
    while (depthOf[inner]! + deeper > depth[at]!) {
      path.push(inner);
      inner = nodes.parent[inner]!;
    }
    while (depth[at]! > depthOf[inner]! + deeper) at = parent[at]!;
    while (from[at] !== inner) {
      path.push(inner);
      inner = nodes.parent[inner]!;
      at = parent[at]!;
    }
    for (let p = path.length - 1; p >= 0; p--) at = add(path[p]!, nodes.fn[path[p]!]!, at);
    self[at]! += ns[i]!;
    end += ns[i]!;
  }
  total.set(self.subarray(0, count));
  const next = new Uint32Array(count);
  const kind = new Uint8Array(count);
  for (let i = 0; i < count; i++) next[i] = i + 1;
  for (let i = count - 1; i >= 0; i--) {
    kind[i] = nodes.kind[from[i]!]!;
    const above = parent[i]!;
    if (above < 0) continue;
    total[above]! += total[i]!;
    next[above] = Math.max(next[above]!, next[i]!);
  }
  return {
    count,
    fn: fn.slice(0, count),
    kind,
    depth: depth.slice(0, count),
    parent: parent.slice(0, count),
    next,
    start: start.slice(0, count),
    total: total.slice(0, count),
    self: self.slice(0, count),
    ...rowsOf(depth, count),
    whole: weights.whole,
    each,
  };
}
