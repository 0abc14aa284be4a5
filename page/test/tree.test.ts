// The flame graph's trees: merged, in time order, from both sides of one function.

import assert from "node:assert/strict";
import { test } from "node:test";
import { weigh } from "../src/data/scope";
import { costs, edges } from "../src/tree/calls";
import { joined, ordered } from "../src/tree/order";
import { byProcess } from "../src/tree/processes";
import { callees, callers } from "../src/tree/sandwich";
import { litTotal, merged, nodeAt, pathOf } from "../src/tree/tree";
import { drawn, make, numberOf } from "./make";

const ALL = { metric: "cpu", threads: null, range: null } as const;

test("equal paths are merged, and the heaviest stands first", () => {
  const recording = make({
    samples: [
      { path: "main;a", ns: 10 },
      { path: "main;b;c", ns: 30 },
      { path: "main;a", ns: 5 },
      { path: "main", ns: 1 },
    ],
  });
  const tree = merged(recording, weigh(recording, ALL));
  assert.deepEqual(drawn(recording, tree), ["all 46 0", " main 46 1", "  b 30 0", "   c 30 30", "  a 15 15"]);
  assert.deepEqual([...tree.start], [0, 0, 0, 0, 30]);
  assert.deepEqual([...tree.next], [5, 5, 4, 4, 5]);
});

test("a function that is inlined is another frame than the same one called", () => {
  const recording = make({
    samples: [
      { path: "main;f", ns: 1 },
      { path: "main;?f", ns: 2 },
    ],
  });
  const tree = merged(recording, weigh(recording, ALL));
  assert.deepEqual(drawn(recording, tree), ["all 3 0", " main 3 0", "  f 2 2", "  f 1 1"]);
  assert.deepEqual([...tree.kind], [0, 0, 2, 0]);
});

test("samples without a stack are seen as such", () => {
  const recording = make({
    samples: [
      { path: "", ns: 4 },
      { path: "main", ns: 6 },
    ],
  });
  const tree = merged(recording, weigh(recording, ALL));
  assert.deepEqual(drawn(recording, tree), ["all 10 0", " main 6 6", " [no stack] 4 4"]);
});

test("in time order only neighbours are merged", () => {
  const recording = make({
    samples: [
      { path: "main;a", at: 1, ns: 1 },
      { path: "main;a;x", at: 2, ns: 1 },
      { path: "main;b", at: 3, ns: 1 },
      { path: "main;a", at: 4, ns: 1 },
    ],
  });
  const tree = ordered(recording, ALL, weigh(recording, ALL));
  assert.deepEqual(drawn(recording, tree), [
    "all 4 0",
    " main 4 0",
    "  a 2 1",
    "   x 1 1",
    "  b 1 1",
    "  a 1 1",
  ]);
  assert.deepEqual([...tree.start], [0, 0, 0, 1, 2, 3]);
});

test("threads follow each other in time order", () => {
  const recording = make({
    threads: [0, 0],
    samples: [
      { path: "main", at: 1, ns: 1 },
      { path: "work", at: 2, ns: 1, thread: 1 },
      { path: "main", at: 3, ns: 1 },
    ],
  });
  const tree = ordered(recording, ALL, weigh(recording, ALL));
  assert.deepEqual(drawn(recording, tree), ["all 3 0", " main 2 2", " work 1 1"]);
});

test("callers and callees of a function add up, recursion counted once", () => {
  const recording = make({
    samples: [
      { path: "main;a;f;g", ns: 3 },
      { path: "main;b;f;f;g", ns: 4 },
      { path: "main;b;h", ns: 9 },
    ],
  });
  const tree = merged(recording, weigh(recording, ALL));
  const f = numberOf(recording, "f");
  assert.deepEqual(drawn(recording, callees(tree, f)), ["f 7 0", " f 4 0", "  g 4 4", " g 3 3"]);
  assert.deepEqual(drawn(recording, callers(tree, f)), [
    "f 7 0",
    " b 4 0",
    "  main 4 4",
    " a 3 0",
    "  main 3 3",
  ]);
  const cost = costs(tree, recording.functions);
  assert.equal(cost.inclusive[f], 7);
  assert.equal(cost.self[f], 0);
  const around = edges(tree, recording.functions, f);
  const named = (list: { fn: number; ns: number }[]) =>
    list.map((edge) => [recording.name(edge.fn), edge.ns]);
  assert.deepEqual(named(around.callers), [
    ["b", 4],
    ["a", 3],
  ]);
  assert.deepEqual(named(around.callees), [
    ["g", 7],
    ["f", 4],
  ]);
});

test("a callee that is reached twice on one path counts once", () => {
  const recording = make({ samples: [{ path: "main;f;g;f;g", ns: 5 }] });
  const tree = merged(recording, weigh(recording, ALL));
  const around = edges(tree, recording.functions, numberOf(recording, "f"));
  assert.deepEqual(
    around.callees.map((edge) => edge.ns),
    [5],
  );
});

test("what is lit is added up once, however often it is on the stack", () => {
  const recording = make({
    samples: [
      { path: "main;f;f", ns: 5 },
      { path: "main;g;f", ns: 2 },
      { path: "main", ns: 3 },
    ],
  });
  const tree = merged(recording, weigh(recording, ALL));
  const lit = new Uint8Array(recording.functions);
  lit[numberOf(recording, "f")] = 1;
  assert.equal(litTotal(tree, lit), 7);
});

test("a path of functions leads back to its node, as deep as it is there", () => {
  const recording = make({
    samples: [
      { path: "main;a", ns: 2 },
      { path: "main;b;c", ns: 1 },
    ],
  });
  const tree = merged(recording, weigh(recording, ALL));
  for (let node = 0; node < tree.count; node++) assert.equal(nodeAt(tree, pathOf(tree, node)), node);
  const main = numberOf(recording, "main");
  assert.equal(nodeAt(tree, [main, 12345]), 1);
});

test("a stack of 2,000 frames is laid out", () => {
  const path = Array.from({ length: 2000 }, (_, i) => `f${i % 3}`).join(";");
  const recording = make({ samples: [{ path, ns: 1 }] });
  const tree = merged(recording, weigh(recording, ALL));
  assert.equal(tree.rows, tree.count);
  assert.equal(tree.rows, 2001);
});

test("too many moments are joined, and keep their time", () => {
  const node = Float64Array.of(5, 6, 6, 7, 8);
  const ns = Float64Array.of(3, 2, 2, 1, 1);
  assert.deepEqual(joined(node, ns, 5), { node, ns, each: 1 });
  const fewer = joined(node, ns, 2);
  assert.deepEqual([[...fewer.node], [...fewer.ns], fewer.each], [[6, 7], [7, 2], 3]);
});

const several = make({
  threads: [0, 1, 0],
  samples: [
    { path: "main;a", at: 1, ns: 10 },
    { path: "main;a", at: 2, ns: 20, thread: 1 },
    { path: "main;b", at: 3, ns: 5, thread: 2 },
    { path: "main;a", at: 4, ns: 1 },
    { path: "", at: 5, ns: 2, thread: 1 },
  ],
  syscalls: [{ path: "main;a", call: "read", at: 6, span: 1, blocked: 7, thread: 1 }],
});

test("each process has its own paths, the one with the most time first", () => {
  const wall = { ...ALL, metric: "wall" } as const;
  const weights = weigh(several, wall);
  assert.equal(weights.processes, 2);
  const tree = byProcess(several, wall, weights);
  assert.deepEqual(drawn(several, tree), [
    "all 45 0",
    " prog 2 29 0",
    "  main 27 0",
    "   a 27 20",
    "    read 7 7",
    "  [no stack] 2 2",
    " prog 1 16 0",
    "  main 16 0",
    "   a 11 11",
    "   b 5 5",
  ]);
  for (let node = 0; node < tree.count; node++) assert.equal(nodeAt(tree, pathOf(tree, node)), node);
});

test("in time order as well, the threads of a process behind each other", () => {
  const tree = ordered(several, ALL, weigh(several, ALL), true);
  assert.deepEqual(drawn(several, tree), [
    "all 38 0",
    " prog 1 16 0",
    "  main 16 0",
    "   a 11 11",
    "   b 5 5",
    " prog 2 22 0",
    "  main 20 0",
    "   a 20 20",
    "  [no stack] 2 2",
  ]);
});

test("one thread is of one process", () => {
  const scope = { ...ALL, threads: new Set([0, 2]) };
  assert.equal(weigh(several, scope).processes, 1);
});
