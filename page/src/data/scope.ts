// What part of a recording is looked at: on or off the CPU, which threads, which stretch of time. Every view follows it.

import type { Recording } from "./recording";

export type Metric = "cpu" | "off" | "wall";

export interface Scope {
  metric: Metric;
  /** Numbers of threads; null for all. */
  threads: ReadonlySet<number> | null;
  /** From and to, in the recording's unit of time; null for all. */
  range: readonly [number, number] | null;
}

/** Time by stack, ns. */
export interface Weights {
  byStack: Float64Array;
  /** Time that no stack is known of. */
  unknown: number;
  total: number;
  /** What shares are of: the run's CPU time where that is all that is looked at, as in the reports; else `total`. */
  whole: number;
  /** How many processes some of it is of. */
  processes: number;
}

/** The first index whose value is not below `value`, in rising values. */
export function lowerBound(values: Uint32Array, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The indexes of samples within the range. */
export function sampleRange(recording: Recording, range: Scope["range"]): [number, number] {
  const { time } = recording.samples;
  return range ? [lowerBound(time, range[0]), lowerBound(time, range[1] + 1)] : [0, time.length];
}

/** How much (0 to 1) of what went on from `start` for `span` is within the range. */
export function within(range: Scope["range"], start: number, span: number): number {
  if (!range) return 1;
  const overlap = Math.min(range[1], start + span) - Math.max(range[0], start);
  if (overlap < 0) return 0;
  return span === 0 ? 1 : Math.min(1, overlap / span);
}

/** Visits what happened within the scope: which thread, on which stack (-1 if it is not known), for how long, ns. */
export function eachMoment(
  recording: Recording,
  scope: Scope,
  visit: (thread: number, stack: number, ns: number) => void,
): void {
  if (scope.metric !== "off") {
    const { thread, stack, weight } = recording.samples;
    const [from, to] = sampleRange(recording, scope.range);
    for (let i = from; i < to; i++) {
      if (!scope.threads || scope.threads.has(thread[i]!)) visit(thread[i]!, stack[i]!, weight[i]!);
    }
  }
  if (scope.metric !== "cpu") {
    const { time, span, thread, stack, blocked } = recording.syscalls;
    for (let i = 0; i < time.length; i++) {
      if (blocked[i] === 0 || (scope.threads && !scope.threads.has(thread[i]!))) continue;
      const ns = blocked[i]! * within(scope.range, time[i]!, span[i]!);
      if (ns > 0) visit(thread[i]!, stack[i]!, ns);
    }
  }
}

/** Adds the scope's time up by stack. */
export function weigh(recording: Recording, scope: Scope): Weights {
  const byStack = new Float64Array(recording.stackParent.length);
  const seen = new Uint8Array(recording.head.processes.length);
  let unknown = 0;
  let total = 0;
  eachMoment(recording, scope, (thread, stack, ns) => {
    if (stack >= 0) byStack[stack]! += ns;
    else unknown += ns;
    total += ns;
    seen[recording.threadProcess[thread]!] = 1;
  });
  const everything = scope.metric === "cpu" && !scope.threads && !scope.range;
  const whole = everything ? Math.max(recording.head.run.cpu_ns, 1) : total;
  const processes = seen.reduce((sum, one) => sum + one, 0);
  return { byStack, unknown, total, whole, processes };
}
