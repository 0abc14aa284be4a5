// What each function cost, and which of its callers and callees: added up over a tree.

import type { Tree } from "./tree";

/** Time by function, ns. */
export interface Costs {
  /** In the function and all that it calls; recursion is counted once. */
  inclusive: Float64Array;
  self: Float64Array;
}

/** Adds up a tree in which functions are numbered below `functions`. */
export function costs(tree: Tree, functions: number): Costs {
  const inclusive = new Float64Array(functions);
  const self = new Float64Array(functions);
  walk(tree, functions, (node, fn, outermost) => {
    self[fn]! += tree.self[node]!;
    if (outermost) inclusive[fn]! += tree.total[node]!;
  });
  return { inclusive, self };
}

/** A caller or callee, and the time that passed in callees by this way, ns. */
export interface Edge {
  fn: number;
  ns: number;
}

/** Who called `fn`, and what it called, the most time first. Of recursion each way is counted once. */
export function edges(tree: Tree, functions: number, fn: number): { callers: Edge[]; callees: Edge[] } {
  const callers = new Map<number, number>();
  const callees = new Map<number, number>();
  const add = (to: Map<number, number>, key: number, ns: number) => to.set(key, (to.get(key) ?? 0) + ns);
  // How many edges fn → g are open on the path, by g.
  const open = new Map<number, number>();
  walk(
    tree,
    functions,
    (node, of, outermost) => {
      const parent = tree.parent[node]!;
      const caller = parent > 0 ? tree.fn[parent]! : -1;
      if (of === fn && outermost && caller >= 0) add(callers, caller, tree.total[node]!);
      if (caller === fn) {
        const times = open.get(of) ?? 0;
        if (times === 0) add(callees, of, tree.total[node]!);
        open.set(of, times + 1);
      }
    },
    (node, of) => {
      const parent = tree.parent[node]!;
      if (parent > 0 && tree.fn[parent] === fn) open.set(of, (open.get(of) ?? 1) - 1);
    },
  );
  const sorted = (edges: Map<number, number>) =>
    [...edges].map(([key, ns]) => ({ fn: key, ns })).sort((a, b) => b.ns - a.ns || a.fn - b.fn);
  return { callers: sorted(callers), callees: sorted(callees) };
}

/** Visits nodes of known functions; `outermost` says that the function is not on the path already. */
function walk(
  tree: Tree,
  functions: number,
  enter: (node: number, fn: number, outermost: boolean) => void,
  leave: (node: number, fn: number) => void = () => {},
): void {
  const on = new Uint32Array(functions);
  const path: number[] = [];
  const close = (before: number) => {
    while (path.length > 0 && tree.next[path[path.length - 1]!]! <= before) {
      const node = path.pop()!;
      const fn = tree.fn[node]!;
      on[fn]!--;
      leave(node, fn);
    }
  };
  for (let node = 1; node < tree.count; node++) {
    close(node);
    const fn = tree.fn[node]!;
    if (fn >= functions) continue;
    enter(node, fn, on[fn] === 0);
    on[fn]!++;
    path.push(node);
  }
  close(tree.count);
}
