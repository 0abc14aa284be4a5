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
  /** ns per run, before and after. */
  self: [number, number];
  inclusive: [number, number];
}

/** Functions of either side, with their time on both. */
export function changes(selections: readonly [Selection, Selection], of: Union, normal: boolean): Change[] {
  const recordings = [selections[0].recording, selections[1].recording] as const;
  const scale = scales(recordings, [selections[0].weights, selections[1].weights], normal);
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
      row.self[side as 0 | 1] += self[fn]! * scale[side as 0 | 1];
      row.inclusive[side as 0 | 1] += inclusive[fn]! * scale[side as 0 | 1];
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
