// Time in each of many short stretches: how busy a thread, a process or the whole run was.

import type { Recording } from "../data/recording";
import { lowerBound } from "../data/scope";

/** Adds `amount`, spread evenly from `start` for `span`, to the bins of [from, to). */
export function spread(
  bins: Float64Array,
  from: number,
  to: number,
  start: number,
  span: number,
  amount: number,
): void {
  const per = (to - from) / bins.length;
  const first = (start - from) / per;
  if (span <= 0) {
    const bin = Math.floor(first);
    if (bin >= 0 && bin < bins.length) bins[bin]! += amount;
    return;
  }
  const last = first + span / per;
  const low = Math.max(0, Math.floor(first));
  const high = Math.min(bins.length, Math.ceil(last));
  const density = amount / (last - first);
  for (let bin = low; bin < high; bin++) {
    bins[bin]! += density * (Math.min(bin + 1, last) - Math.max(bin, first));
  }
}

/** CPU time in each bin, ns. `stacks` and `threads`, where given, say what counts. */
export function busy(
  recording: Recording,
  count: number,
  from: number,
  to: number,
  threads?: ReadonlySet<number> | null,
  stacks?: Uint8Array,
): Float64Array {
  const bins = new Float64Array(count);
  const { time, thread, stack, weight } = recording.samples;
  const unit = recording.head.unit_ns;
  for (let i = lowerBound(time, from); i < time.length; i++) {
    if (threads && !threads.has(thread[i]!)) continue;
    if (stacks && (stack[i]! < 0 || stacks[stack[i]!] === 0)) continue;
    // A sample stands for the time before it.
    const span = Math.min(weight[i]! / unit, time[i]!);
    if (time[i]! - span > to) break;
    spread(bins, from, to, time[i]! - span, span, weight[i]!);
  }
  return bins;
}

/** Time asleep in each bin, ns, likewise. */
export function asleep(
  recording: Recording,
  count: number,
  from: number,
  to: number,
  threads?: ReadonlySet<number> | null,
  stacks?: Uint8Array,
): Float64Array {
  const bins = new Float64Array(count);
  const { time, span, thread, stack, blocked } = recording.syscalls;
  for (let i = 0; i < time.length && time[i]! <= to; i++) {
    if (blocked[i] === 0 || time[i]! + span[i]! < from) continue;
    if (threads && !threads.has(thread[i]!)) continue;
    if (stacks && stacks[stack[i]!] === 0) continue;
    spread(bins, from, to, time[i]!, span[i]!, blocked[i]!);
  }
  return bins;
}

/** System calls in each bin, likewise. */
export function calls(
  recording: Recording,
  count: number,
  from: number,
  to: number,
  stacks?: Uint8Array,
): Float64Array {
  const bins = new Float64Array(count);
  const { time, span, stack, count: times } = recording.syscalls;
  for (let i = 0; i < time.length && time[i]! <= to; i++) {
    if (time[i]! + span[i]! < from || (stacks && stacks[stack[i]!] === 0)) continue;
    spread(bins, from, to, time[i]!, span[i]!, times[i]!);
  }
  return bins;
}
