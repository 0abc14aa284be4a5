// All call paths together, those of each process by themselves: the first level is the process.

import { processFrame } from "../data/process";
import { ALL, type Recording } from "../data/recording";
import { eachMoment, type Scope, type Weights } from "../data/scope";
import { Grower, type Skeleton, skeleton } from "./skeleton";
import { layOut, type Tree } from "./tree";

export function byProcess(recording: Recording, scope: Scope, weights: Weights): Tree {
  const nodes = skeleton(recording);
  const grower = new Grower(1024);
  grower.add(-1, ALL, 0);
  const nodeOf = places(nodes, grower);
  const self: number[] = [0];
  eachMoment(recording, scope, (thread, stack, ns) => {
    const process = recording.threadProcess[thread]!;
    const node = nodeOf(process, stack < 0 ? 1 : nodes.ofStack[stack]!);
    self[node] = (self[node] ?? 0) + ns;
  });
  const times = Float64Array.from({ length: grower.count }, (_, node) => self[node] ?? 0);
  return layOut(grower, times, weights.whole);
}

/** Finds or makes the node that a node of all paths has within a process; the root of all is the process itself. */
function places(nodes: Skeleton, grower: Grower): (process: number, node: number) => number {
  const made = new Map<number, number>();
  const path: number[] = [];
  return (process, wanted) => {
    const first = process * nodes.count;
    let inner = wanted;
    let at = made.get(first + inner);
    while (at === undefined && inner > 0) {
      path.push(inner);
      inner = nodes.parent[inner]!;
      at = made.get(first + inner);
    }
    if (at === undefined) {
      at = grower.add(0, processFrame(process), 0);
      made.set(first, at);
    }
    while (path.length > 0) {
      const node = path.pop()!;
      at = grower.add(at, nodes.fn[node]!, nodes.kind[node]!);
      made.set(first + node, at);
    }
    return at;
  };
}
