// All call paths of a recording as one tree of functions, without weights: built once, weighed for every scope.
//
// Frames of one function under the same caller are one node, whatever their addresses and lines; a function that was inlined there is
// another node than the same one called.

import { ALL, CALLERS_UNKNOWN, INLINED, KERNEL, NO_STACK, type Recording } from "../data/recording";
import { rootless } from "../data/rootless";

/** Node 0 is the whole, node 1 stands for samples without a stack. Parents are smaller than their children. */
export interface Skeleton {
  count: number;
  parent: Int32Array;
  fn: Uint32Array;
  /** 0, `INLINED` or `KERNEL`. */
  kind: Uint8Array;
  /** The node of each stack's innermost frame. */
  ofStack: Int32Array;
}

/** Finds or makes the children of nodes. */
export class Grower {
  count = 0;
  parent: Int32Array;
  fn: Uint32Array;
  kind: Uint8Array;
  private table: Int32Array;
  private mask: number;

  constructor(capacity: number) {
    const room = Math.max(16, capacity);
    this.parent = new Int32Array(room);
    this.fn = new Uint32Array(room);
    this.kind = new Uint8Array(room);
    const size = 2 ** Math.ceil(Math.log2(room * 2));
    this.table = new Int32Array(size).fill(-1);
    this.mask = size - 1;
  }

  /** A node that is no one's child by function, such as the root. */
  add(parent: number, fn: number, kind: number): number {
    if (this.count === this.parent.length) this.grow();
    const node = this.count++;
    this.parent[node] = parent;
    this.fn[node] = fn;
    this.kind[node] = kind;
    return node;
  }

  /** The child of `parent` for a function. */
  child(parent: number, fn: number, kind: number): number {
    const inlined = kind === INLINED;
    let slot = this.slot(parent, fn, inlined);
    for (;;) {
      const node = this.table[slot]!;
      if (node < 0) break;
      const same = this.parent[node] === parent && this.fn[node] === fn;
      if (same && (this.kind[node] === INLINED) === inlined) return node;
      slot = (slot + 1) & this.mask;
    }
    const full = this.count === this.parent.length;
    const node = this.add(parent, fn, kind);
    if (full) this.insert(node);
    else this.table[slot] = node;
    return node;
  }

  private slot(parent: number, fn: number, inlined: boolean): number {
    let hash = Math.imul(parent, 0x9e37_79b1) ^ Math.imul(fn + (inlined ? 0x4000_0000 : 0), 0x85eb_ca6b);
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x2c1b_3c6d);
    return (hash ^ (hash >>> 13)) & this.mask;
  }

  private insert(node: number): void {
    let slot = this.slot(this.parent[node]!, this.fn[node]!, this.kind[node] === INLINED);
    while (this.table[slot]! >= 0) slot = (slot + 1) & this.mask;
    this.table[slot] = node;
  }

  private grow(): void {
    const room = this.parent.length * 2;
    const parent = new Int32Array(room);
    parent.set(this.parent);
    const fn = new Uint32Array(room);
    fn.set(this.fn);
    const kind = new Uint8Array(room);
    kind.set(this.kind);
    this.parent = parent;
    this.fn = fn;
    this.kind = kind;
    this.table = new Int32Array((this.mask + 1) * 2).fill(-1);
    this.mask = this.table.length - 1;
    for (let node = 0; node < this.count; node++) this.insert(node);
  }
}

/** What kind of node a frame of this kind becomes. */
export function nodeKind(frameKind: number): number {
  return frameKind === INLINED || frameKind === KERNEL ? frameKind : 0;
}

/**
 * Adds a recording's stacks to a tree whose node 0 is its root, incomplete ones under a node of their own. `map` gives the number under which the tree knows a function.
 * Returns the node of each stack.
 */
export function addStacks(grower: Grower, recording: Recording, map: (fn: number) => number): Int32Array {
  const { stackParent, stackLocation, locationStart, frameFunction, frameKind } = recording;
  const ofStack = new Int32Array(stackParent.length);
  const cut = rootless(recording);
  for (let stack = 0; stack < ofStack.length; stack++) {
    const parent = stackParent[stack]!;
    let node = parent >= 0 ? ofStack[parent]! : cut[stack] === 1 ? grower.child(0, CALLERS_UNKNOWN, 0) : 0;
    const location = stackLocation[stack]!;
    const end = locationStart[location + 1]!;
    for (let f = locationStart[location]!; f < end; f++) {
      node = grower.child(node, map(frameFunction[f]!), nodeKind(frameKind[f]!));
    }
    ofStack[stack] = node;
  }
  return ofStack;
}

/** At most so many frames are on all stacks together. */
export function framesOf(recording: Recording): number {
  const { stackLocation, locationStart } = recording;
  let frames = 0;
  for (const location of stackLocation) frames += locationStart[location + 1]! - locationStart[location]!;
  return frames;
}

const built = new WeakMap<Recording, Skeleton>();

/** The tree of a recording, built when it is first asked for. */
export function skeleton(recording: Recording): Skeleton {
  const known = built.get(recording);
  if (known) return known;
  const grower = new Grower(framesOf(recording) + 3);
  grower.add(-1, ALL, 0);
  grower.add(0, NO_STACK, 0);
  const ofStack = addStacks(grower, recording, (fn) => fn);
  const made = { count: grower.count, parent: grower.parent, fn: grower.fn, kind: grower.kind, ofStack };
  built.set(recording, made);
  return made;
}
