// One function from both sides: who called it, and what it calls, whatever the path there.

import { Grower } from "./skeleton";
import { layOut, type Tree } from "./tree";

/** Callees of all outermost calls of `fn`, merged; node 0 is the function. */
export function callees(tree: Tree, fn: number): Tree {
  const grower = new Grower(1024);
  grower.add(-1, fn, 0);
  let self = new Float64Array(1024);
  const add = (node: number, ns: number) => {
    if (node >= self.length) {
      const more = new Float64Array(Math.max(self.length * 2, node + 1));
      more.set(self);
      self = more;
    }
    self[node]! += ns;
  };
  const made = new Int32Array(tree.count);
  for (let node = 1; node < tree.count; ) {
    if (tree.fn[node] !== fn) {
      node++;
      continue;
    }
    add(0, tree.self[node]!);
    made[node] = 0;
    const end = tree.next[node]!;
    for (let inner = node + 1; inner < end; inner++) {
      made[inner] = grower.child(made[tree.parent[inner]!]!, tree.fn[inner]!, tree.kind[inner]!);
      add(made[inner]!, tree.self[inner]!);
    }
    node = end;
  }
  return layOut(grower, padded(self, grower.count), tree.whole);
}

/** Callers of all outermost calls of `fn`, merged from the function outwards; node 0 is the function. */
export function callers(tree: Tree, fn: number): Tree {
  const grower = new Grower(1024);
  grower.add(-1, fn, 0);
  const found: [number, number][] = [];
  for (let node = 1; node < tree.count; ) {
    if (tree.fn[node] !== fn) {
      node++;
      continue;
    }
    let at = 0;
    for (let outer = tree.parent[node]!; outer > 0; outer = tree.parent[outer]!) {
      at = grower.child(at, tree.fn[outer]!, tree.kind[outer]!);
    }
    found.push([at, tree.total[node]!]);
    node = tree.next[node]!;
  }
  const self = new Float64Array(grower.count);
  for (const [at, ns] of found) self[at]! += ns;
  return layOut(grower, self, tree.whole);
}

function padded(values: Float64Array, length: number): Float64Array {
  if (values.length >= length) return values;
  const more = new Float64Array(length);
  more.set(values);
  return more;
}
