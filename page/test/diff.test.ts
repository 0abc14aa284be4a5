// Two recordings in one tree.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changes } from "../src/compare/changes";
import { changed, figure } from "../src/compare/figures";
import { weigh } from "../src/data/scope";
import { Selection } from "../src/selection";
import { change, difference, union } from "../src/tree/diff";
import { make } from "./make";

const ALL = { metric: "cpu", threads: null, range: null } as const;
const a = make({
  samples: [
    { path: "main;slow", ns: 80 },
    { path: "main;same", ns: 20 },
  ],
  modules: { same: "libz.so.1.2" },
});
const b = make({
  samples: [
    { path: "main;same", ns: 20 },
    { path: "main;fresh", ns: 5 },
  ],
  modules: { same: "libz.so.1.3" },
});
const of = union(a, b);
const weights = [weigh(a, ALL), weigh(b, ALL)] as const;

function rows(tree: ReturnType<typeof difference>): [string, number, number][] {
  return Array.from({ length: tree.count }, (_, node) => {
    const fn = tree.fn[node]!;
    return [fn < of.names.length ? of.names[fn]! : "all", tree.sides[0][node]!, tree.sides[1][node]!];
  });
}

test("frames of either side are in the tree, with their time on both", () => {
  const tree = difference([a, b], weights, of, "both", false);
  assert.deepEqual(rows(tree), [
    ["all", 100, 25],
    ["main", 100, 25],
    ["slow", 80, 0],
    ["same", 20, 20],
    ["fresh", 0, 5],
  ]);
  assert.equal(tree.total[0], 125);
});

test("a library in another version is the same library", () => {
  assert.equal(of.names.filter((name) => name === "same").length, 1);
});

test("as wide as one side, the other's own frames are not there", () => {
  assert.deepEqual(
    rows(difference([a, b], weights, of, "a", false)).map(([name]) => name),
    ["all", "main", "slow", "same"],
  );
  assert.deepEqual(
    rows(difference([a, b], weights, of, "b", false)).map(([name]) => name),
    ["all", "main", "same", "fresh"],
  );
});

test("normalised, both sides take the same time", () => {
  const tree = difference([a, b], weights, of, "both", true);
  assert.deepEqual([tree.sides[0][0], tree.sides[1][0]], [100, 100]);
});

test("runs that were joined count as one", () => {
  const twice = make({ samples: [{ path: "main;slow", ns: 160 }], runs: 2 });
  const tree = difference([twice, b], [weigh(twice, ALL), weights[1]], union(twice, b), "a", false);
  assert.equal(tree.total[0], 80);
});

test("a change is between only before and only after", () => {
  assert.deepEqual(
    [change(5, 0), change(0, 5), change(4, 4), change(2, 4), change(0, 0)],
    [-1, 1, 0, 0.5, 0],
  );
});

test("the table tells each function's time on both sides", () => {
  const table = changes([new Selection(a, ALL), new Selection(b, ALL)], of, false);
  const told = table.map((row) => [row.name, ...row.self, ...row.inclusive]);
  assert.deepEqual(told, [
    ["main", 0, 0, 100, 25],
    ["slow", 80, 0, 80, 0],
    ["same", 20, 20, 20, 20],
    ["fresh", 0, 5, 0, 5],
  ]);
});

test("normalised, the table tells shares of each side, which are no times", () => {
  const table = changes([new Selection(a, ALL), new Selection(b, ALL)], of, true);
  const told = table.map((row) => [row.name, ...row.self, ...row.inclusive]);
  assert.deepEqual(told, [
    ["main", 0, 0, 1, 1],
    ["slow", 0.8, 0, 0.8, 0],
    ["same", 0.2, 0.8, 0.2, 0.8],
    ["fresh", 0, 0.2, 0, 0.2],
  ]);
});

test("a time is told as a time, and a share as a share", () => {
  assert.deepEqual([figure(5e6, false), figure(0.052, true)], ["5 ms", "5.2 %"]);
  assert.deepEqual(
    [changed(5e6, 3e6, false), changed(3e6, 5e6, false), changed(3, 3, false)],
    ["−2 ms", "+2 ms", ""],
  );
  assert.deepEqual(
    [changed(0.5, 0.12, true), changed(0.2, 0.231, true), changed(0.2, 0.20001, true)],
    ["−38 points", "+3.1 points", "+0.0 points"],
  );
});
