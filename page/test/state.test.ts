// The state in the URL's fragment, numbers, colours, CSV.

import assert from "node:assert/strict";
import { test } from "node:test";
import { between, changeColour, GROUND, hash, moduleColour, TEXT } from "../src/flame/colours";
import { csv } from "../src/shared/copy";
import { outside } from "../src/shared/outside";
import { bytes, count, quantity, share, time } from "../src/shared/units";
import { fromFragment, START, type State, toFragment } from "../src/state";
import { kindOf } from "../src/timeline/kinds";
import { contrast } from "./contrast";

test("a state comes back from its fragment", () => {
  const state: State = {
    view: "flame",
    side: 1,
    metric: "wall",
    who: "p12",
    range: [10, 99999],
    search: "a&b=<c> #%",
    finding: 3,
    mode: "sandwich",
    upward: true,
    processes: false,
    zoom: [0, 71, 5],
    fn: 0,
    file: outside("src/a b.c"),
    width: "b",
    normal: true,
  };
  assert.deepEqual(fromFragment(`#${toFragment(state)}`), state);
  assert.equal(toFragment(START), "");
  assert.deepEqual(fromFragment(""), START);
});

test("a fragment from anywhere does no harm", () => {
  for (const fragment of [
    "view=<script>",
    "range=9-1",
    "range=-",
    "zoom=a..!!",
    "fn=-5",
    "who=x",
    "finding=zz",
    "side=7",
    "&&==%",
  ]) {
    const state = fromFragment(`#${fragment}`);
    assert.equal(state.view, "findings");
    assert.equal(state.range, null);
    assert.ok(state.finding < 0 && state.fn < 0 && state.side <= 1 && state.who === "");
  }
});

test("numbers are written as the reports write them", () => {
  assert.deepEqual([0, 850, 1540, 830e3, 52e6, 999_499_999, 6.25e9, 40.8e9, 725e9, 7500e9].map(time), [
    "0 s",
    "850 ns",
    "1.5 µs",
    "830 µs",
    "52 ms",
    "999 ms",
    "6.25 s",
    "40.8 s",
    "12 min 5 s",
    "2 h 5 min",
  ]);
  assert.deepEqual([0, 0.0001, 0.024, 0.0996, 0.964, 0.998, 1, 1 - 1e-12, Number.NaN].map(share), [
    "0 %",
    "<0.1 %",
    "2.4 %",
    "10 %",
    "96 %",
    ">99 %",
    "100 %",
    "100 %",
    "?",
  ]);
  assert.equal(count(1000000), "1,000,000");
  assert.deepEqual([512, 1536, 64 * 2 ** 20].map(bytes), ["512 B", "1.5 KiB", "64 MiB"]);
  assert.equal(quantity(118.2, "ratio"), "118×");
  assert.equal(time(-5e6), "−5 ms");
});

test("text can be read on every colour of a frame", () => {
  for (const theme of ["light", "dark"] as const) {
    const bases = Array.from({ length: 200 }, (_, i) => moduleColour("library", `lib${i}.so.1`, theme));
    bases.push(moduleColour("program", "", theme), moduleColour("kernel", "", theme));
    for (let change = -10; change <= 10; change++) bases.push(changeColour(change / 10, theme));
    for (const base of new Set(bases)) {
      for (const shade of [0, 0.1, 0.2, 0.6]) {
        const colour = between(base, GROUND[theme], shade);
        assert.ok(
          contrast(colour, TEXT[theme]) >= 4.5,
          `${theme} ${base} ${shade}: ${contrast(colour, TEXT[theme])}`,
        );
      }
    }
  }
});

test("a library has one colour, whatever its version", () => {
  assert.equal(moduleColour("library", "libc.so.6", "light"), moduleColour("library", "libc.so.7", "light"));
  assert.equal(hash("libc"), 2081444831);
});

test("CSV holds names as text, also those that a spreadsheet would compute", () => {
  assert.equal(
    csv([
      ["a,b", 'say "x"', 1.5],
      ["=1+1", "two\nlines", -2],
    ]),
    '"a,b","say ""x""",1.5\n\'=1+1,"two\nlines",-2\n',
  );
});

test("system calls have a kind", () => {
  const names = [
    "openat",
    "newfstatat",
    "recvmsg",
    "wait4",
    "ppoll",
    "futex",
    "brk",
    "uname",
    "fdatasync",
    "read",
  ];
  assert.deepEqual(
    names.map((name) => kindOf(outside(name))),
    ["file", "file", "network", "process", "wait", "wait", "memory", "other", "wait", "file"],
  );
});
