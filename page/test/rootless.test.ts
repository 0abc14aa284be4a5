// Stacks that do not reach the start of their thread: where they stand in the trees, and what is said of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { limitations } from "../src/about/limitations";
import { weigh } from "../src/data/scope";
import { edges } from "../src/tree/calls";
import { difference, union } from "../src/tree/diff";
import { ordered } from "../src/tree/order";
import { merged } from "../src/tree/tree";
import { drawn, make, numberOf } from "./make";

const ALL = { metric: "wall", threads: null, range: null } as const;

const recording = make({
  samples: [
    { path: "start;main;f", at: 1, ns: 3, complete: true },
    { path: "deep;f", at: 2, ns: 5, complete: false },
    { path: "deep", at: 3, ns: 1, complete: false },
    { path: "start;main;f", at: 4, ns: 3, complete: true },
    { path: "", at: 5, ns: 2, complete: false },
  ],
  syscalls: [
    { path: "deep;g", call: "read", at: 10, span: 1, blocked: 7 },
    { path: "start;main;g", call: "read", at: 12, span: 1, blocked: 4 },
  ],
});

test("incomplete stacks hang under unknown callers, those of system calls as well", () => {
  const tree = merged(recording, weigh(recording, ALL));
  assert.deepEqual(drawn(recording, tree), [
    "all 25 0",
    " [callers unknown] 13 0",
    "  deep 13 1",
    "   g 7 0",
    "    read 7 7",
    "   f 5 5",
    " start 10 0",
    "  main 10 0",
    "   f 6 6",
    "   g 4 0",
    "    read 4 4",
    " [no stack] 2 2",
  ]);
});

test("in time order and in a difference as well", () => {
  const cpu = { ...ALL, metric: "cpu" } as const;
  assert.deepEqual(drawn(recording, ordered(recording, cpu, weigh(recording, cpu))), [
    "all 14 0",
    " start 3 0",
    "  main 3 0",
    "   f 3 3",
    " [callers unknown] 6 0",
    "  deep 6 1",
    "   f 5 5",
    " start 3 0",
    "  main 3 0",
    "   f 3 3",
    " [no stack] 2 2",
  ]);
  const whole = make({ samples: [{ path: "start;main;f", ns: 3 }] });
  const weights = [weigh(whole, ALL), weigh(recording, ALL)] as const;
  const tree = difference([whole, recording], weights, union(whole, recording), "b", false);
  assert.deepEqual([tree.sides[0][1], tree.sides[1][1]], [0, 13]);
  assert.equal(recording.name(tree.fn[1]!), "[callers unknown]");
});

test("among a function's callers the unknown ones are told", () => {
  const tree = merged(recording, weigh(recording, ALL));
  const { callers } = edges(tree, recording.functions, numberOf(recording, "deep"));
  assert.deepEqual(
    callers.map((edge) => [recording.name(edge.fn), edge.ns, recording.isFunction(edge.fn)]),
    [["[callers unknown]", 13, false]],
  );
});

test("where the data does not say which stacks they are, none is called incomplete", () => {
  const unsaid = make({ samples: [{ path: "deep;f", ns: 5 }], complete_share: 0.8 });
  assert.deepEqual(drawn(unsaid, merged(unsaid, weigh(unsaid, ALL))), ["all 5 0", " deep 5 0", "  f 5 5"]);
});

test("what was not seen names incomplete stacks", () => {
  const told = limitations(recording);
  assert.equal(told.length, 1);
  assert.match(told[0]!, /^60 % of the samples have an incomplete stack: .* under \[callers unknown\]/);
  const unsaid = make({ samples: [{ path: "f" }], complete_share: 0.8, unseen: ["lost: 3 samples"] });
  assert.match(
    limitations(unsaid).join("\n"),
    /^lost: 3 samples\n20 % of the samples .* begin at the outermost/,
  );
  assert.deepEqual(limitations(make({ samples: [{ path: "f" }] })), []);
  assert.deepEqual(limitations(make({ samples: [], complete_share: 0 })), []);
});
