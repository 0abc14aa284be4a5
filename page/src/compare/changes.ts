// What changed from one recording to the other: functions by time, findings gone, new and kept.

import type { Finding } from "../data/head";
import type { Recording } from "../data/recording";
import type { Selection } from "../selection";
import type { Shown } from "../shared/outside";
import { scales, type Union } from "../tree/diff";

export interface Change {
  fn: number;
  name: Shown;
  module: Shown;
  /** Before and after: ns per run, or shares (0 to 1) of each side's time. */
  self: [number, number];
  inclusive: [number, number];
}

/** Functions of either side, with their time on both; with its share of that if `normal`. */
export function changes(selections: readonly [Selection, Selection], of: Union, normal: boolean): Change[] {
  const recordings = [selections[0].recording, selections[1].recording] as const;
  const weights = [selections[0].weights, selections[1].weights] as const;
  const scale = normal
    ? weights.map(({ total }) => 1 / Math.max(1, total))
    : scales(recordings, weights, false);
  const rows: Change[] = of.names.map((name, fn) => ({
    fn,
    name,
    module: of.modules[fn]!,
    self: [0, 0],
    inclusive: [0, 0],
  }));
  selections.forEach((selection, side) => {
    const { inclusive, self } = selection.costs;
    for (let fn = 0; fn < inclusive.length; fn++) {
      const row = rows[of.maps[side as 0 | 1][fn]!]!;
      row.self[side as 0 | 1] += self[fn]! * scale[side]!;
      row.inclusive[side as 0 | 1] += inclusive[fn]! * scale[side]!;
    }
  });
  return rows.filter((row) => row.inclusive[0] > 0 || row.inclusive[1] > 0);
}

export interface Fate {
  fate: "gone" | "new" | "kept";
  finding: Finding;
  /** ns, before and after. */
  cost: [number, number];
}

/** Findings of either side, told apart by their fingerprints. */
export function fates(a: Recording, b: Recording): Fate[] {
  const before = a.head.findings.findings;
  const after = b.head.findings.findings;
  const same = (list: Finding[], one: Finding) => list.find((other) => other.fingerprint === one.fingerprint);
  return [
    ...before
      .filter((one) => !same(after, one))
      .map((finding): Fate => ({ fate: "gone", finding, cost: [finding.cost_ns ?? 0, 0] })),
    ...after
      .filter((one) => !same(before, one))
      .map((finding): Fate => ({ fate: "new", finding, cost: [0, finding.cost_ns ?? 0] })),
    ...before.flatMap((finding): Fate[] => {
      const other = same(after, finding);
      return other
        ? [{ fate: "kept", finding: other, cost: [finding.cost_ns ?? 0, other.cost_ns ?? 0] }]
        : [];
    }),
  ];
}
