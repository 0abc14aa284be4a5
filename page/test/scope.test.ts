// What part of a recording is looked at.

import assert from "node:assert/strict";
import { test } from "node:test";
import { litStacks, processOf, search } from "../src/data/lit";
import { lowerBound, weigh, within } from "../src/data/scope";
import { busy, spread } from "../src/timeline/bins";
import { make, numberOf } from "./make";

const recording = make({
  threads: [0, 1],
  samples: [
    { path: "main;read_all", at: 10, ns: 5 },
    { path: "main;Parse", at: 20, ns: 7 },
    { path: "child", at: 30, ns: 11, thread: 1 },
  ],
  syscalls: [{ path: "main;read_all", call: "read", at: 40, span: 20, blocked: 16000 }],
  cpu_ns: 25,
  modules: { child: "libx.so.1" },
});

test("a range takes what is within it, ends included", () => {
  const of = (range: [number, number]) => weigh(recording, { metric: "cpu", threads: null, range }).total;
  assert.equal(of([10, 20]), 12);
  assert.equal(of([11, 19]), 0);
  assert.equal(of([0, 100]), 23);
});

test("time off the CPU counts by how much of it is in the range", () => {
  const of = (range: [number, number] | null) =>
    weigh(recording, { metric: "off", threads: null, range }).total;
  assert.equal(of(null), 16000);
  assert.equal(of([40, 50]), 8000);
  assert.equal(of([61, 70]), 0);
  assert.equal(weigh(recording, { metric: "wall", threads: null, range: null }).total, 16023);
});

test("threads are told apart", () => {
  assert.equal(weigh(recording, { metric: "cpu", threads: new Set([1]), range: null }).total, 11);
});

test("shares of the whole run are shares of its CPU time, as in the reports; else of what is looked at", () => {
  assert.equal(weigh(recording, { metric: "cpu", threads: null, range: null }).whole, 25);
  assert.equal(weigh(recording, { metric: "cpu", threads: null, range: [0, 100] }).whole, 23);
  assert.equal(weigh(recording, { metric: "off", threads: null, range: null }).whole, 16000);
});

test("what is partly within a range counts in part", () => {
  assert.equal(within([10, 20], 0, 20), 0.5);
  assert.equal(within([10, 20], 15, 0), 1);
  assert.equal(within([10, 20], 30, 5), 0);
  assert.equal(within(null, 30, 5), 1);
});

test("the first value that is not below another is found", () => {
  const values = Uint32Array.of(1, 3, 3, 7);
  assert.deepEqual(
    [0, 1, 2, 3, 4, 7, 8].map((value) => lowerBound(values, value)),
    [0, 0, 1, 1, 3, 3, 4],
  );
});

test("a search is of names, whatever the case; of modules and by expression if asked", () => {
  const found = (query: string) => {
    const lit = search(recording, query);
    assert.ok(lit && !(lit instanceof Error), query);
    return [...lit.functions].flatMap((on, fn) => (on ? [recording.name(fn)] : []));
  };
  assert.deepEqual(found("PARSE"), ["Parse"]);
  assert.deepEqual(found("read"), ["read_all", "read"]);
  assert.deepEqual(found("/^read$/"), ["read"]);
  assert.deepEqual(found("/^parse$/i"), ["Parse"]);
  assert.deepEqual(found("module:libx"), ["child"]);
  assert.deepEqual(found("nowhere"), []);
  assert.equal(search(recording, "  "), null);
  assert.ok(search(recording, "/(/") instanceof Error);
});

test("a stack is lit if one of its frames is", () => {
  const functions = new Uint8Array(recording.functions);
  functions[numberOf(recording, "read_all")] = 1;
  const stacks = litStacks(recording, { functions, path: new Set(), files: new Set() });
  assert.deepEqual([...stacks], [0, 1, 0, 0, 1]);
});

test("time is spread over the bins that it lies in", () => {
  const bins = new Float64Array(4);
  spread(bins, 0, 40, 5, 20, 100);
  assert.deepEqual([...bins], [25, 50, 25, 0]);
  spread(bins, 0, 40, 39, 0, 1);
  spread(bins, 0, 40, 80, 10, 1);
  assert.deepEqual([...bins], [25, 50, 25, 1]);
});

test("bins hold all the time of a run", () => {
  const sum = busy(recording, 7, 0, recording.span).reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum - 23) < 1e-9);
});

test("what is lit is most in the process where most of its time passed", () => {
  const only = (name: string) => {
    const functions = new Uint8Array(recording.functions);
    functions[numberOf(recording, name)] = 1;
    return processOf(recording, { functions, path: new Set(), files: new Set() });
  };
  assert.equal(only("main"), 0);
  assert.equal(only("child"), 1);
  assert.equal(
    processOf(recording, {
      functions: new Uint8Array(recording.functions),
      path: new Set(),
      files: new Set(),
    }),
    -1,
  );
});
