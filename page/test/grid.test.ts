// Tables in a narrow window.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Column, nameFirst } from "../src/shared/grid";

const column = (name: string, more: Partial<Column<number>> = {}): Column<number> => ({
  name,
  value: () => 0,
  text: () => "",
  ...more,
});

test("in a narrow window the column that names the row stands first, whatever it is called", () => {
  const names = (columns: Column<number>[]) => nameFirst(columns).map((one) => one.name);
  const words = { words: true };
  assert.deepEqual(
    names([
      column("self"),
      column("time"),
      column("function", { ...words, wide: 2 }),
      column("where", words),
    ]),
    ["function", "self", "time", "where"],
  );
  assert.deepEqual(names([column("asleep"), column("who", words), column("call", words)]), [
    "who",
    "asleep",
    "call",
  ]);
  assert.deepEqual(names([column("process", words), column("pid")]), ["process", "pid"]);
});
