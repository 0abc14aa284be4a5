// The timeline's lanes: what is drawn of system calls is the time that they took.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bundleText } from "../src/timeline/bundles";
import { KINDS, type Kind } from "../src/timeline/kinds";
import { lanes } from "../src/timeline/lanes";
import { type Colours, LABELS, LANE, Lanes } from "../src/timeline/paint";
import { make } from "./make";

const MS = 1000;

/** Reads and sleeps: two reads of 1 ms with 5 s between them in one row, and a sleep of 4 s in between. */
const sleeper = make({
  samples: [{ path: "main", at: 6000 * MS, ns: 1000 }],
  syscalls: [
    { path: "main", call: "read", at: 0, span: 5000 * MS, duration: 2e6, count: 2 },
    { path: "main", call: "nanosleep", at: 500 * MS, span: 4000 * MS, blocked: 4e9 },
  ],
});

/** A thread that does nothing but read for 1 s. */
const reader = make({
  samples: [{ path: "main", at: 2000 * MS, ns: 1000 }],
  syscalls: [{ path: "main", call: "read", at: 0, span: 1000 * MS, duration: 1e9, count: 5000 }],
});

interface Box {
  colour: string;
  alpha: number;
  x: number;
  y: number;
  wide: number;
  high: number;
}

const WIDE = 1000;
const colours: Colours = {
  text: "text",
  faint: "faint",
  line: "line",
  on: "on",
  lit: "lit",
  ground: "ground",
  kinds: Object.fromEntries(KINDS.map((kind) => [kind, kind])) as Record<Kind, string>,
};

/** What is drawn of a recording's first lane. */
function drawn(recording: ReturnType<typeof make>): Box[] {
  const boxes: Box[] = [];
  const canvas = {
    fillStyle: "",
    globalAlpha: 1,
    clearRect: () => {},
    save: () => {},
    restore: () => {},
    beginPath: () => {},
    rect: () => {},
    clip: () => {},
    fillText: () => {},
    measureText: () => ({ width: 1 }),
    fillRect(x: number, y: number, wide: number, high: number) {
      boxes.push({ colour: this.fillStyle, alpha: this.globalAlpha, x: x - LABELS, y, wide, high });
    },
  };
  const context = canvas as unknown as CanvasRenderingContext2D;
  const all = lanes(recording);
  new Lanes(recording).paint(
    context,
    all,
    { width: LABELS + WIDE, height: LANE, labels: LABELS },
    0,
    0,
    recording.span,
    colours,
    "",
    null,
  );
  return boxes;
}

/** Ink of a colour: pixels, each as much as it covers. */
function ink(boxes: Box[], colour: string): number {
  const own = boxes.filter((box) => box.colour === colour);
  return own.reduce((sum, box) => sum + box.wide * box.high * box.alpha, 0);
}

test("two reads with a sleep between them are no long read, and the sleep is seen", () => {
  const boxes = drawn(sleeper);
  const sleep = boxes.findIndex((box) => box.colour === "wait");
  assert.ok(sleep >= 0, "the sleep is drawn");
  const { x, wide, high, alpha } = boxes[sleep]!;
  assert.deepEqual([Math.round(x), Math.round(wide), high, alpha], [83, 667, 4, 1]);
  // Nothing of the reads covers it or is as strong as a call that takes all the time.
  const reads = boxes.filter((box) => box.colour === "file");
  assert.ok(reads.length > 0, "the reads are drawn");
  assert.ok(reads.every((box) => boxes.indexOf(box) < sleep && box.high <= 1 && box.alpha < 0.4));
  assert.ok(ink(boxes, "file") < ink(boxes, "wait") / 10);
});

test("calls that took all of their span are as tall as a sleep, but hatched", () => {
  const reads = drawn(reader).filter((box) => box.colour === "file");
  assert.ok(reads.every((box) => Math.abs(box.high - 4) < 0.1 && box.wide === 1));
  const columns = new Set(reads.map((box) => Math.round(box.x)));
  assert.ok(columns.size > 250 && columns.size < 400, `${columns.size} of 500`);
});

test("the pointer finds the call that a moment lies in, and beside it the many around it", () => {
  const every = new Lanes(sleeper);
  const [lane] = lanes(sleeper);
  assert.deepEqual(every.at(lane!, 2000 * MS, 10 * MS), { stack: -1, call: 1, bundle: 0 });
  assert.deepEqual(every.at(lane!, 100 * MS, 10 * MS), { stack: -1, call: -1, bundle: 0 });
  assert.deepEqual(every.at(lane!, 5500 * MS, 10 * MS), { stack: -1, call: -1, bundle: -1 });
  assert.equal(bundleText(sleeper, 0), "read: 2 calls, together 2 ms, between 0.00 s and 5.00 s");
});
