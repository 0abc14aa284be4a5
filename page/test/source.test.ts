// What source files and their lines cost.

import assert from "node:assert/strict";
import { test } from "node:test";
import { weigh } from "../src/data/scope";
import { outside, show } from "../src/shared/outside";
import { fileCosts, lineCosts } from "../src/source/cost";
import { make } from "./make";

const ALL = { metric: "cpu", threads: null, range: null } as const;

const recording = make({
  samples: [
    { path: "main@main.c:10;load@load.c:3;parse@load.c:7", ns: 60 },
    { path: "main@main.c:10;load@load.c:3", ns: 20 },
    { path: "main@main.c:11", ns: 5 },
    { path: "main@main.c:10;libc", ns: 15 },
  ],
});
const costs = lineCosts(recording, weigh(recording, ALL));

test("a file's own share is the time in its own code, beside what it is with all that it calls", () => {
  const told = fileCosts(costs, new Set()).map(({ path, own, total }) => [show(path), own, total]);
  assert.deepEqual(told, [
    ["load.c", 80, 80],
    ["main.c", 5, 100],
  ]);
});

test("files whose text is in the page come first", () => {
  const readable = new Set([outside("main.c")]);
  assert.deepEqual(
    fileCosts(costs, readable).map(({ path }) => show(path)),
    ["main.c", "load.c"],
  );
});

test("time on a line that is not known is the file's all the same", () => {
  const blurred = make({ samples: [{ path: "main@main.c", ns: 7 }] });
  const [file] = fileCosts(lineCosts(blurred, weigh(blurred, ALL)), new Set());
  assert.deepEqual([show(file!.path), file!.own, file!.total], ["main.c", 7, 7]);
});

test("a line costs what it takes itself, and with what it calls", () => {
  const { self, inclusive } = costs.get(outside("load.c"))!;
  assert.deepEqual([self.get(3), inclusive.get(3), self.get(7)], [20, 80, 60]);
});
