// A weighed tree laid out: what the flame graph draws and the table of calls adds up.

import type { Recording } from "../data/recording";
import type { Weights } from "../data/scope";
import { type Skeleton, skeleton } from "./skeleton";

/** Nodes in the order in which a reader meets them: each before its callees, node 0 the whole. */
export interface Tree {
  count: number;
  fn: Uint32Array;
  kind: Uint8Array;
  depth: Uint32Array;
  /** -1 for node 0. */
  parent: Int32Array;
  /** The first node behind the node's own callees. */
  next: Uint32Array;
  /** Where it begins, in ns from the left. */
  start: Float64Array;
  /** Time in it and all that it calls, ns. */
  total: Float64Array;
  /** Time in itself, ns. */
  self: Float64Array;
  /** Nodes of depth d, from left to right, are rowNodes[rowStart[d]] … rowNodes[rowStart[d + 1]]. */
  rowStart: Uint32Array;
  rowNodes: Uint32Array;
  /** How many depths there are. */
  rows: number;
  /** What shares are of, ns. */
  whole: number;
  /** Of a difference: time of each node on either side, ns per run. */
  sides?: [Float64Array, Float64Array];
}

/** Rows of a tree by depth. */
export function rowsOf(depth: Uint32Array, count: number): Pick<Tree, "rowStart" | "rowNodes" | "rows"> {
  let rows = 0;
  for (let i = 0; i < count; i++) rows = Math.max(rows, depth[i]! + 1);
  const rowStart = new Uint32Array(rows + 1);
  for (let i = 0; i < count; i++) rowStart[depth[i]! + 1]!++;
  for (let d = 0; d < rows; d++) rowStart[d + 1]! += rowStart[d]!;
  const fill = rowStart.slice(0, rows);
  const rowNodes = new Uint32Array(count);
  for (let i = 0; i < count; i++) rowNodes[fill[depth[i]!]!++] = i;
  return { rowStart, rowNodes, rows };
}

/** What the layout is made of: nodes whose parents are smaller than they, with time in each itself. */
export interface Nodes {
  count: number;
  parent: Int32Array;
  fn: Uint32Array;
  kind: Uint8Array;
}

/** Lays nodes out, those with the most time first among callees of one caller. Nodes without time are left out. */
export function layOut(
  nodes: Nodes,
  self: Float64Array,
  whole: number,
  least = 0,
): Tree & { from: Uint32Array } {
  const { count, parent } = nodes;
  const total = self.slice(0, count);
  for (let node = count - 1; node > 0; node--) total[parent[node]!]! += total[node]!;
  // Callees of each node, gathered, then ordered.
  const first = new Uint32Array(count + 1);
  let kept = 0;
  for (let node = 0; node < count; node++) {
    if (node > 0 && total[node]! <= least) continue;
    kept++;
    if (node > 0) first[parent[node]! + 1]!++;
  }
  for (let node = 0; node < count; node++) first[node + 1]! += first[node]!;
  const fill = first.slice(0, count);
  const children = new Uint32Array(kept);
  for (let node = 1; node < count; node++) {
    if (total[node]! > least) children[fill[parent[node]!]!++] = node;
  }
  const heavier = (a: number, b: number) => total[b]! - total[a]! || nodes.fn[a]! - nodes.fn[b]!;
  for (let node = 0; node < count; node++) {
    if (first[node + 1]! - first[node]! > 1) children.subarray(first[node]!, first[node + 1]!).sort(heavier);
  }
  const tree = {
    count: kept,
    fn: new Uint32Array(kept),
    kind: new Uint8Array(kept),
    depth: new Uint32Array(kept),
    parent: new Int32Array(kept),
    next: new Uint32Array(kept),
    start: new Float64Array(kept),
    total: new Float64Array(kept),
    self: new Float64Array(kept),
    from: new Uint32Array(kept),
  };
  // Depth first, without recursion: stacks of programs can be deeper than ours.
  const pending: number[] = [0, -1, 0];
  let made = 0;
  while (pending.length > 0) {
    const start = pending.pop()!;
    const above = pending.pop()!;
    const node = pending.pop()!;
    const at = made++;
    tree.fn[at] = nodes.fn[node]!;
    tree.kind[at] = nodes.kind[node]!;
    tree.depth[at] = above < 0 ? 0 : tree.depth[above]! + 1;
    tree.parent[at] = above;
    tree.start[at] = start;
    tree.total[at] = total[node]!;
    tree.self[at] = self[node]!;
    tree.from[at] = node;
    let end = start;
    for (let c = first[node]!; c < first[node + 1]!; c++) end += total[children[c]!]!;
    for (let c = first[node + 1]! - 1; c >= first[node]!; c--) {
      end -= total[children[c]!]!;
      pending.push(children[c]!, at, end);
    }
  }
  for (let i = 0; i < made; i++) tree.next[i] = i + 1;
  for (let i = made - 1; i > 0; i--) {
    const above = tree.parent[i]!;
    tree.next[above] = Math.max(tree.next[above]!, tree.next[i]!);
  }
  return { ...tree, ...rowsOf(tree.depth, made), whole };
}

/** Time of each node itself, from time by stack. */
export function selfTimes(skeleton: Skeleton, weights: Weights): Float64Array {
  const self = new Float64Array(skeleton.count);
  for (let stack = 0; stack < weights.byStack.length; stack++) {
    const ns = weights.byStack[stack]!;
    if (ns !== 0) self[skeleton.ofStack[stack]!]! += ns;
  }
  self[1]! += weights.unknown;
  return self;
}

/** All call paths together, equal ones merged. */
export function merged(recording: Recording, weights: Weights): Tree {
  const nodes = skeleton(recording);
  return layOut(nodes, selfTimes(nodes, weights), weights.whole);
}

/** Functions of a node's path, outermost first, node 0 left out. */
export function pathOf(tree: Tree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at > 0; at = tree.parent[at]!) path.push(tree.fn[at]!);
  return path.reverse();
}

/** The node at a path of functions, as deep as the tree has it. */
export function nodeAt(tree: Tree, path: readonly number[]): number {
  let node = 0;
  for (const fn of path) {
    let child = node + 1;
    const end = tree.next[node]!;
    while (child < end && tree.fn[child] !== fn) child = tree.next[child]!;
    if (child >= end) return node;
    node = child;
  }
  return node;
}

/** Time under lit functions, each moment counted once, ns. */
export function litTotal(tree: Tree, lit: Uint8Array): number {
  let sum = 0;
  for (let node = 1; node < tree.count; ) {
    if (lit[tree.fn[node]!] === 1) {
      sum += tree.total[node]!;
      node = tree.next[node]!;
    } else node++;
  }
  return sum;
}
