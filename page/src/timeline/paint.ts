// Draws the lanes of the timeline that are seen: life, CPU, waiting and system calls of each.

import type { Recording } from "../data/recording";
import type { Shown } from "../shared/outside";
import { spread } from "./bins";
import { Bundles, isBundle } from "./bundles";
import { type Kind, kindOf } from "./kinds";
import { byThread, type Lane } from "./lanes";

export const LANE = 24;
/** Names at the left of the lanes, and where there is little room. */
export const LABELS = 210;
export const NARROW_LABELS = 104;

/** How much is drawn, pixels. */
export interface Size {
  width: number;
  height: number;
  /** The part of the width that names take; 0 for none. */
  labels: number;
}

/** System calls, pixels: asleep in one, and not. */
const THICK = 4;
const THIN = 2;
/** Of rows of many calls every so many'th pixel is left out, and the others are paler, at least this faint. */
const HATCH = 3;
const PALE = 0.6;
const FAINT = 0.3;

export interface Colours {
  text: string;
  faint: string;
  line: string;
  on: string;
  lit: string;
  ground: string;
  kinds: Record<Kind, string>;
}

export class Lanes {
  private readonly samples;
  private readonly syscalls;
  private readonly kinds: Kind[];

  constructor(private readonly recording: Recording) {
    const threads = recording.head.threads.length;
    this.samples = byThread(recording.samples.thread, threads);
    this.syscalls = byThread(recording.syscalls.thread, threads);
    this.kinds = recording.head.calls.map(kindOf);
  }

  /** Draws lanes from pixel `scroll` on; `from` and `to` in the recording's unit. */
  paint(
    canvas: CanvasRenderingContext2D,
    lanes: readonly Lane[],
    size: Size,
    scroll: number,
    from: number,
    to: number,
    colours: Colours,
    who: string,
    lit: Uint8Array | null,
  ): void {
    const { width, height } = size;
    canvas.clearRect(0, 0, width, height);
    canvas.textBaseline = "middle";
    canvas.font = "12px system-ui, sans-serif";
    const first = Math.max(0, Math.floor(scroll / LANE));
    const last = Math.min(lanes.length, Math.ceil((scroll + height) / LANE));
    for (let i = first; i < last; i++) {
      const y = i * LANE - scroll;
      this.lane(canvas, lanes[i]!, y, size, from, to, colours, who, lit);
    }
  }

  private lane(
    canvas: CanvasRenderingContext2D,
    lane: Lane,
    y: number,
    { width, labels: left }: Size,
    from: number,
    to: number,
    colours: Colours,
    who: string,
    lit: Uint8Array | null,
  ): void {
    const unit = this.recording.head.unit_ns;
    const wide = Math.max(1, width - left);
    const x = (time: number) => left + ((time - from) / (to - from)) * wide;
    if (left > 0) this.label(canvas, lane, y, left, colours, who);
    canvas.fillStyle = colours.line;
    canvas.fillRect(0, y + LANE - 1, width, 1);
    canvas.save();
    canvas.beginPath();
    canvas.rect(left, y, wide, LANE);
    canvas.clip();
    // Its life.
    const [born, died] = [x(lane.start / unit), x(lane.end / unit)];
    canvas.fillRect(born, y + LANE / 2 - 1, Math.max(1, died - born), 2);
    canvas.fillRect(born, y + 5, 1, LANE - 11);
    // CPU time of each pixel.
    const bins = new Float64Array(Math.ceil(wide));
    const marked = lit ? new Float64Array(bins.length) : null;
    const { time, weight, stack } = this.recording.samples;
    for (const thread of lane.threads) {
      for (let i = this.samples.start[thread]!; i < this.samples.start[thread + 1]!; i++) {
        const row = this.samples.rows[i]!;
        const span = Math.min(weight[row]! / unit, time[row]!);
        if (time[row]! < from) continue;
        if (time[row]! - span > to) break;
        spread(bins, from, to, time[row]! - span, span, span);
        if (marked && stack[row]! >= 0 && lit![stack[row]!] === 1) {
          spread(marked, from, to, time[row]! - span, span, span);
        }
      }
    }
    const pixel = (to - from) / bins.length;
    const most = pixel * Math.max(1, lane.threads.length > 1 ? 2 : 1);
    const area = (values: Float64Array, colour: string) => {
      canvas.fillStyle = colour;
      for (let at = 0; at < values.length; at++) {
        if (values[at] === 0) continue;
        const tall = Math.max(2, Math.min(1, values[at]! / most) * (LANE - 9));
        canvas.fillRect(left + at, y + LANE - 7 - tall, 1, tall);
      }
    };
    area(bins, colours.on);
    if (marked) area(marked, colours.lit);
    this.calls(canvas, lane, { left, wide, foot: y + LANE - 2 }, from, to, colours);
    canvas.restore();
  }

  /** A lane's name, and the number of the process or thread where there is room for both. */
  private label(
    canvas: CanvasRenderingContext2D,
    lane: Lane,
    y: number,
    left: number,
    colours: Colours,
    who: string,
  ): void {
    const wide = left >= LABELS;
    const indent = 8 + Math.min(6, lane.depth) * (wide ? 12 : 4);
    canvas.fillStyle = lane.who === who ? colours.lit : colours.text;
    canvas.fillText(fit(canvas, lane.label, left - indent - (wide ? 56 : 6)), indent, y + LANE / 2);
    if (!wide) return;
    canvas.fillStyle = colours.faint;
    canvas.textAlign = "right";
    canvas.fillText(lane.detail, left - 10, y + LANE / 2);
    canvas.textAlign = "left";
  }

  /**
   * System calls by kind at the foot of a lane: each for as long as it took, asleep in it thick. Rows of many calls are hatched, lie
   * under those, and are as tall as the share of the time that the calls took.
   */
  private calls(
    canvas: CanvasRenderingContext2D,
    lane: Lane,
    { left, wide, foot }: { left: number; wide: number; foot: number },
    from: number,
    to: number,
    colours: Colours,
  ): void {
    const calls = this.recording.syscalls;
    const single: number[] = [];
    const bundles = new Bundles(Math.ceil(wide), from, to);
    for (const thread of lane.threads) {
      for (let i = this.syscalls.start[thread]!; i < this.syscalls.start[thread + 1]!; i++) {
        const row = this.syscalls.rows[i]!;
        if (calls.time[row]! > to) break;
        if (calls.time[row]! + calls.span[row]! < from) continue;
        if (isBundle(this.recording, row)) bundles.add(this.recording, row, this.kindOf(row));
        else single.push(row);
      }
    }
    bundles.each((bin, kind, below, share) => {
      if (bin % HATCH === 0) return;
      const tall = share * THICK;
      canvas.fillStyle = colours.kinds[kind];
      // So few that they fill no pixel are a faint one.
      canvas.globalAlpha = tall < 1 ? FAINT + (PALE - FAINT) * tall : PALE;
      canvas.fillRect(left + bin, foot - below * THICK - Math.max(1, tall), 1, Math.max(1, tall));
    });
    canvas.globalAlpha = 1;
    const scale = wide / (to - from);
    let drawn = -1;
    let thread = -1;
    for (const row of single) {
      if (calls.thread[row]! !== thread) drawn = -1;
      thread = calls.thread[row]!;
      const start = left + (calls.time[row]! - from) * scale;
      const end = start + calls.span[row]! * scale;
      if (end < drawn + 0.5) continue;
      const asleep = calls.blocked[row]! / this.recording.head.unit_ns > calls.span[row]! / 2;
      const tall = asleep ? THICK : THIN;
      canvas.fillStyle = colours.kinds[this.kindOf(row)];
      canvas.fillRect(start, foot - tall, Math.max(1, end - start), tall);
      drawn = Math.max(start + 1, end);
    }
  }

  private kindOf(row: number): Kind {
    return this.kinds[this.recording.syscalls.call[row]!]!;
  }

  /** What a lane did at a moment: the functions on its CPU, the call that it was in, many calls that were made around it. */
  at(lane: Lane, moment: number, reach: number): { stack: number; call: number; bundle: number } {
    const { time, stack } = this.recording.samples;
    const calls = this.recording.syscalls;
    let nearest = reach;
    let beside = reach;
    const found = { stack: -1, call: -1, bundle: -1 };
    for (const thread of lane.threads) {
      for (let i = this.samples.start[thread]!; i < this.samples.start[thread + 1]!; i++) {
        const row = this.samples.rows[i]!;
        const away = Math.abs(time[row]! - moment);
        if (away < nearest) {
          nearest = away;
          found.stack = stack[row]!;
        }
      }
      for (let i = this.syscalls.start[thread]!; i < this.syscalls.start[thread + 1]!; i++) {
        const row = this.syscalls.rows[i]!;
        const away = Math.max(0, calls.time[row]! - moment, moment - calls.time[row]! - calls.span[row]!);
        if (away > reach) continue;
        if (!isBundle(this.recording, row)) {
          if (away > beside) continue;
          beside = away;
          found.call = row;
        } else if (found.bundle < 0 || calls.duration[row]! > calls.duration[found.bundle]!) {
          // Of several the one that took the most.
          found.bundle = row;
        }
      }
    }
    return found;
  }
}

/** As much of a text as there is room for. */
export function fit(canvas: CanvasRenderingContext2D, text: Shown, room: number): string {
  if (canvas.measureText(text).width <= room) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (canvas.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? `${text.slice(0, low)}…` : "";
}
