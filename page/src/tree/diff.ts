// Two recordings as one tree: every call path of either, with its time on both sides.

import { ALL, NO_STACK, type Recording } from "../data/recording";
import type { Weights } from "../data/scope";
import { unversioned } from "../flame/colours";
import { type Outside, type Shown, show } from "../shared/outside";
import { addStacks, framesOf, Grower } from "./skeleton";
import { layOut, type Tree } from "./tree";

/** Functions of both sides under common numbers: equal are those of one name in one module. */
export interface Union {
  names: Shown[];
  modules: Shown[];
  /** For each side the common number of each of its functions. */
  maps: [Uint32Array, Uint32Array];
}

/** What a module is called on both sides: the program may have another name on each, and a library another version. */
export function commonModule(recording: Recording, fn: number): Shown {
  const module = recording.module(fn);
  if (!module) return recording.moduleName(fn);
  return show(module.role === "program" ? "program" : unversioned(show(module.name)));
}

export function union(a: Recording, b: Recording): Union {
  const numbers = new Map<Shown, Map<Outside, number>>();
  const names: Shown[] = [];
  const modules: Shown[] = [];
  const map = (recording: Recording) => {
    const out = new Uint32Array(recording.functions);
    for (let fn = 0; fn < out.length; fn++) {
      const [name, module] = [recording.ownName(fn), commonModule(recording, fn)];
      const known = numbers.get(module) ?? new Map<Outside, number>();
      numbers.set(module, known);
      let number = known.get(name);
      if (number === undefined) {
        number = names.length;
        known.set(name, number);
        names.push(recording.name(fn));
        modules.push(module);
      }
      out[fn] = number;
    }
    return out;
  };
  const maps: Union["maps"] = [map(a), map(b)];
  return { names, modules, maps };
}

export type Widths = "a" | "b" | "both";

/**
 * The tree of both sides, time per run. Widths are those of one side, or of both added up. `normal` scales the second side to the
 * time of the first, so that the share of the time is compared.
 */
export function difference(
  recordings: readonly [Recording, Recording],
  weights: readonly [Weights, Weights],
  of: Union,
  widths: Widths,
  normal: boolean,
): Tree & { sides: [Float64Array, Float64Array] } {
  const grower = new Grower(framesOf(recordings[0]) + framesOf(recordings[1]) + 3);
  grower.add(-1, ALL, 0);
  grower.add(0, NO_STACK, 0);
  const stacks = recordings.map((recording, side) =>
    addStacks(grower, recording, (fn) => of.maps[side]![fn]!),
  );
  const scale = scales(recordings, weights, normal);
  const self = recordings.map((_, side) => {
    const times = new Float64Array(grower.count);
    const { byStack, unknown } = weights[side]!;
    for (let stack = 0; stack < byStack.length; stack++) {
      if (byStack[stack] !== 0) times[stacks[side]![stack]!]! += byStack[stack]! * scale[side]!;
    }
    times[1]! += unknown * scale[side]!;
    return times;
  }) as [Float64Array, Float64Array];
  const width =
    widths === "a" ? self[0] : widths === "b" ? self[1] : self[0].map((ns, node) => ns + self[1][node]!);
  const totals = self.map((times) => {
    const total = times.slice();
    for (let node = grower.count - 1; node > 0; node--) total[grower.parent[node]!]! += total[node]!;
    return total;
  });
  const tree = layOut(grower, width, 1);
  const sides = totals.map((total) => Float64Array.from(tree.from, (node) => total[node]!));
  return { ...tree, whole: Math.max(1, tree.total[0]!), sides: sides as [Float64Array, Float64Array] };
}

/** What each side's time is multiplied by: per run, and as long as each other if asked for. */
export function scales(
  recordings: readonly [Recording, Recording],
  weights: readonly [Weights, Weights],
  normal: boolean,
): [number, number] {
  const runs = recordings.map((recording) => 1 / Math.max(1, recording.head.about.runs)) as [number, number];
  const [a, b] = [weights[0].total * runs[0], weights[1].total * runs[1]];
  return normal && b > 0 && a > 0 ? [runs[0], (runs[1] * a) / b] : runs;
}

/** How a frame changed: 1 is only after, -1 only before, 0 as it was. */
export function change(a: number, b: number): number {
  const most = Math.max(a, b);
  return most === 0 ? 0 : (b - a) / most;
}
