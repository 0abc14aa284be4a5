// How a time on one of two sides is shown: as it is, or, where both are scaled to the same total, as a share of its own side. A scaled time
// is no time that ever passed, so it is never shown as one.

import { share, time } from "../shared/units";

/** One side's figure: ns per run, or its share of that side if `normal`. */
export function figure(value: number, normal: boolean): string {
  return normal ? share(value) : time(value);
}

/** What a figure changed by, with its sign; of shares in percentage points. Empty if it did not. */
export function changed(before: number, after: number, normal: boolean): string {
  const by = after - before;
  if (by === 0) return "";
  const sign = by > 0 ? "+" : "−";
  return sign + (normal ? points(Math.abs(by)) : time(Math.abs(by)));
}

/** A difference of two shares. */
function points(by: number): string {
  const points = by * 100;
  return `${points.toFixed(points < 9.95 ? 1 : 0)} points`;
}
