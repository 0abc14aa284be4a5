// Draws the lanes of the timeline that are seen: life, CPU, waiting and system calls of each.

import type { Recording } from "../data/recording";
import type { Shown } from "../shared/outside";
import { spread } from "./bins";
import { type Kind, kindOf } from "./kinds";
import { byThread, type Lane } from "./lanes";

export const LANE = 24;
export const LABELS = 210;

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
    width: number,
    height: number,
    scroll: number,
    from: number,
    to: number,
    colours: Colours,
    who: string,
    lit: Uint8Array | null,
  ): void {
    canvas.clearRect(0, 0, width, height);
    canvas.textBaseline = "middle";
    canvas.font = "12px system-ui, sans-serif";
    const first = Math.max(0, Math.floor(scroll / LANE));
    const last = Math.min(lanes.length, Math.ceil((scroll + height) / LANE));
    for (let i = first; i < last; i++) {
      const y = i * LANE - scroll;
      this.lane(canvas, lanes[i]!, y, width, from, to, colours, who, lit);
    }
  }

  private lane(
    canvas: CanvasRenderingContext2D,
    lane: Lane,
    y: number,
    width: number,
    from: number,
    to: number,
    colours: Colours,
    who: string,
    lit: Uint8Array | null,
  ): void {
    const unit = this.recording.head.unit_ns;
    const left = LABELS;
    const wide = Math.max(1, width - left);
    const x = (time: number) => left + ((time - from) / (to - from)) * wide;
    // Its name.
    const indent = 8 + Math.min(6, lane.depth) * 12;
    canvas.fillStyle = lane.who === who ? colours.lit : colours.text;
    canvas.fillText(fit(canvas, lane.label, left - indent - 56), indent, y + LANE / 2);
    canvas.fillStyle = colours.faint;
    canvas.textAlign = "right";
    canvas.fillText(lane.detail, left - 10, y + LANE / 2);
    canvas.textAlign = "left";
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
    // System calls by kind, as a line at the foot: asleep in them thick.
    const calls = this.recording.syscalls;
    for (const thread of lane.threads) {
      let drawn = -1;
      for (let i = this.syscalls.start[thread]!; i < this.syscalls.start[thread + 1]!; i++) {
        const row = this.syscalls.rows[i]!;
        const begin = calls.time[row]!;
        if (begin > to) break;
        if (begin + calls.span[row]! < from) continue;
        const start = x(begin);
        const end = x(begin + calls.span[row]!);
        if (end < drawn + 0.5) continue;
        const asleep = calls.blocked[row]! / unit > calls.span[row]! / 2;
        canvas.fillStyle = colours.kinds[this.kinds[calls.call[row]!]!];
        canvas.fillRect(start, y + LANE - (asleep ? 6 : 4), Math.max(1, end - start), asleep ? 4 : 2);
        drawn = Math.max(start + 1, end);
      }
    }
    canvas.restore();
  }

  /** What a lane did at a moment: the functions on its CPU, the call that it was in. */
  at(lane: Lane, moment: number, reach: number): { stack: number; call: number } {
    const { time, stack } = this.recording.samples;
    const calls = this.recording.syscalls;
    let nearest = reach;
    let found = { stack: -1, call: -1 };
    for (const thread of lane.threads) {
      for (let i = this.samples.start[thread]!; i < this.samples.start[thread + 1]!; i++) {
        const row = this.samples.rows[i]!;
        const away = Math.abs(time[row]! - moment);
        if (away < nearest) {
          nearest = away;
          found = { ...found, stack: stack[row]! };
        }
      }
      for (let i = this.syscalls.start[thread]!; i < this.syscalls.start[thread + 1]!; i++) {
        const row = this.syscalls.rows[i]!;
        if (calls.time[row]! - reach <= moment && moment <= calls.time[row]! + calls.span[row]! + reach) {
          found = { ...found, call: row };
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
