// The canvas: which frame is where, and how few rectangles a drawing takes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { weigh } from "../src/data/scope";
import { type Look, nodeUnder, paint, ROW, type Window } from "../src/flame/paint";
import { show } from "../src/shared/outside";
import { merged } from "../src/tree/tree";
import { make } from "./make";

const recording = make({
  samples: [
    { path: "main;a", ns: 60 },
    { path: "main;b;c", ns: 40 },
  ],
});
const tree = merged(recording, weigh(recording, { metric: "cpu", threads: null, range: null }));
const window = (change: Partial<Window> = {}): Window => ({
  from: 0,
  to: 100,
  width: 1000,
  height: 400,
  scroll: 0,
  upward: false,
  whole: tree.rows * ROW,
  ...change,
});
const under = (of: Window, x: number, y: number) => {
  const node = nodeUnder(tree, of, x, y);
  return node < 0 ? null : recording.name(tree.fn[node]!);
};

test("the frame under the pointer is found, with callers above", () => {
  assert.equal(under(window(), 500, 5), "all");
  assert.equal(under(window(), 500, ROW + 5), "main");
  assert.equal(under(window(), 599, 2 * ROW + 5), "a");
  assert.equal(under(window(), 601, 2 * ROW + 5), "b");
  assert.equal(under(window(), 601, 3 * ROW + 5), "c");
  assert.equal(under(window(), 100, 3 * ROW + 5), null);
  assert.equal(under(window(), 100, 300), null);
});

test("and with callers below, zoomed and scrolled", () => {
  const up = window({ upward: true });
  assert.equal(under(up, 500, 3 * ROW + 5), "all");
  assert.equal(under(up, 601, 5), "c");
  assert.equal(under(window({ from: 60 }), 10, 2 * ROW + 5), "b");
  assert.equal(under(window({ scroll: ROW }), 500, 5), "main");
});

/** A context that counts rectangles. */
function counting() {
  const texts: string[] = [];
  const canvas = {
    fillRect: () => {},
    strokeRect: () => {},
    setLineDash: () => {},
    save: () => {},
    restore: () => {},
    beginPath: () => {},
    rect: () => {},
    clip: () => {},
    moveTo: () => {},
    lineTo: () => {},
    stroke: () => {},
    fillText: (text: string) => texts.push(text),
  };
  return { canvas: canvas as unknown as CanvasRenderingContext2D, texts };
}

const look: Look = {
  colour: () => "#000000",
  name: (node) => recording.name(tree.fn[node]!),
  text: "",
  ground: "",
  accent: "",
  font: "",
  letter: 7,
  lit: null,
  path: new Set(),
};

test("names are drawn as text, cut to their frame", () => {
  const { canvas, texts } = counting();
  paint(canvas, tree, window(), look);
  assert.deepEqual(texts, ["all", "main", "a", "b", "c"]);
  const narrow = counting();
  paint(narrow.canvas, tree, window({ width: 30 }), { ...look, name: () => show("a_long_name") });
  assert.deepEqual(narrow.texts.slice(0, 1), ["a_…"]);
});

test("a row of 100,000 frames costs no more than its pixels", () => {
  const count = 100_001;
  const wide = {
    ...tree,
    count,
    rows: 2,
    fn: new Uint32Array(count),
    kind: new Uint8Array(count),
    depth: new Uint32Array(count).fill(1, 1),
    parent: new Int32Array(count),
    next: new Uint32Array(count),
    start: Float64Array.from({ length: count }, (_, i) => Math.max(0, i - 1)),
    total: Float64Array.from({ length: count }, (_, i) => (i === 0 ? count - 1 : 1)),
    self: new Float64Array(count),
    rowStart: Uint32Array.of(0, 1, count),
    rowNodes: Uint32Array.from({ length: count }, (_, i) => i),
  };
  const rectangles = paint(counting().canvas, wide, window({ to: count - 1 }), look);
  assert.ok(rectangles <= 1001, `${rectangles}`);
  const lit = new Uint8Array(recording.functions).fill(1);
  assert.ok(paint(counting().canvas, wide, window({ to: count - 1 }), { ...look, lit }) <= 1001);
});
