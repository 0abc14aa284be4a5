// Rows of many system calls: a thread that makes too many to record each has those of one place summed in one row, from the first to
// the last. Between these it did other things as well, so the row's span is no time in a call: only what the calls took together is.

import type { Recording } from "../data/recording";
import { show } from "../shared/outside";
import { count, moment, time } from "../shared/units";
import { spread } from "./bins";
import { KINDS, type Kind } from "./kinds";

/** Whether a row stands for many calls. */
export function isBundle(recording: Recording, row: number): boolean {
  return recording.syscalls.count[row]! > 1;
}

/** How much of its span the calls of a row took, 0 to 1. */
export function busyShare(recording: Recording, row: number): number {
  const { span, duration } = recording.syscalls;
  return Math.min(1, duration[row]! / recording.head.unit_ns / Math.max(1, span[row]!));
}

/** What rows of many calls took of each bin, by kind, in the recording's unit of time. */
export class Bundles {
  private readonly taken = new Map<Kind, Float64Array>();

  constructor(
    private readonly bins: number,
    private readonly from: number,
    private readonly to: number,
  ) {}

  add(recording: Recording, row: number, kind: Kind): void {
    const { time, span } = recording.syscalls;
    let bins = this.taken.get(kind);
    if (!bins) {
      bins = new Float64Array(this.bins);
      this.taken.set(kind, bins);
    }
    // What took next to nothing was there all the same.
    const amount = Math.max(1e-3, busyShare(recording, row) * span[row]!);
    spread(bins, this.from, this.to, time[row]!, span[row]!, amount);
  }

  /** Visits the bins in which there are some, kind above kind: the share of the bin that those below took, and that these took. */
  each(visit: (bin: number, kind: Kind, below: number, share: number) => void): void {
    const whole = (this.to - this.from) / this.bins;
    const below = new Float64Array(this.bins);
    for (const kind of KINDS) {
      this.taken.get(kind)?.forEach((taken, bin) => {
        if (taken === 0) return;
        // Calls of several threads may be in one row: more than all the time is not shown.
        const share = Math.min(1 - below[bin]!, taken / whole);
        visit(bin, kind, below[bin]!, share);
        below[bin]! += share;
      });
    }
  }
}

/** A row of many calls in words: how many, how long together, from when to when. */
export function bundleText(recording: Recording, row: number): string {
  const { unit_ns, span_ns, calls, files } = recording.head;
  const { syscalls } = recording;
  const [from, to] = [syscalls.time[row]!, syscalls.time[row]! + syscalls.span[row]!];
  const what = `${show(calls[syscalls.call[row]!]!)} ${show(files[syscalls.file[row]!]?.path ?? "")}`;
  const when = `between ${moment(from * unit_ns, span_ns)} and ${moment(to * unit_ns, span_ns)}`;
  return `${what.trim()}: ${count(syscalls.count[row]!)} calls, together ${time(syscalls.duration[row]!)}, ${when}`;
}
