// Text from outside: what is shown of it, and that the compiler lets nothing else be shown.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { ComponentChild } from "preact";
import {
  baseName,
  lines,
  type Outside,
  type Outsides,
  outside,
  type Shown,
  shellCommand,
  show,
  showAll,
  showLine,
} from "../src/shared/outside";

test("what could deceive is spelled out, and nothing else changes", () => {
  assert.equal(show("a\x1b[31mb\r\n\t\x7f\u009b"), "a\\x1b[31mb\\r\\n\\t\\x7f\\x9b");
  assert.equal(show("a\u202eb\u2066\u200b\u061c\u00ad"), "a\\u{202e}b\\u{2066}\\u{200b}\\u{61c}\\u{ad}");
  assert.equal(show("\u{e0041}"), "\\u{e0041}");
  for (const text of ["größe::<T>", "→ 6 µs · 2×", "שלום", "😀", "", "\\x1b"]) assert.equal(show(text), text);
  const once = show("\x1b\u202e");
  assert.equal(show(once), once);
});

test("it is what the reports spell out", () => {
  const rust = readFileSync("../crates/report/src/escape.rs", "utf8");
  const list = /fn is_hidden\(c: char\) -> bool \{([^}]|\}')*/.exec(rust)![0];
  const hidden = [...list.matchAll(/'\\u\{(\w+)\}'(?:\.\.='\\u\{(\w+)\}')?/g)].map(([, from, to]) => [
    Number.parseInt(from!, 16),
    Number.parseInt(to ?? from!, 16),
  ]);
  assert.ok(hidden.length > 10, list);
  const wanted = (code: number) =>
    code < 32 || (code >= 127 && code < 160) || hidden.some(([from, to]) => code >= from! && code <= to!);
  for (let code = 0; code < 0x110000; code++) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const text = String.fromCodePoint(code);
    assert.equal(show(text) !== text, wanted(code), code.toString(16));
  }
});

test("lines of source keep their tabs and nothing that turns code around", () => {
  const text = outside("\tif (a) {\r\n  /*\u202e } \u2066if (admin)\u2069 */\n\x0c");
  assert.deepEqual(lines(text).map(showLine), [
    "\tif (a) {",
    "  /*\\u{202e} } \\u{2066}if (admin)\\u{2069} */",
    "\\x0c",
  ]);
});

const words = (...texts: string[]) => texts.map(outside) as unknown as Outsides;

test("a command line is one that a shell splits into the same words", () => {
  assert.equal(shellCommand(words("/bin/a", "two words", "it's", "")), "/bin/a 'two words' 'it'\\''s' ''");
  assert.equal(shellCommand(words("a\x1b1'\\", "\u202eé")), "$'a\\0331\\'\\\\' $'\\342\\200\\256é'");
  assert.equal(showAll(words("a", "b\nc"), " "), "a b\\nc");
  assert.equal(show(baseName(outside("/x\n/y\u202e"))), "y\\u{202e}");
});

test("the compiler keeps text from outside out of everything that is shown", () => {
  const name: Outside = outside("name");
  const several: Outsides = words("a", "b");
  const canvas = { fillText: (_: string) => {} };
  const draw = (_: Shown) => {};
  // Each of these is an error to the compiler, and would be one if it were none: `make page-lint` sees to it.
  // @ts-expect-error
  const child: ComponentChild = name;
  // @ts-expect-error
  const element = <b>{name}</b>;
  // @ts-expect-error
  const titled = <b title={name}>{show(name)}</b>;
  // @ts-expect-error
  const label: string = name;
  // @ts-expect-error
  const template = () => `${name}`;
  // @ts-expect-error
  canvas.fillText(name);
  // @ts-expect-error
  draw("any text");
  // @ts-expect-error
  const joined = several.join(" ");
  // @ts-expect-error
  const among = ["a", ...several];
  assert.ok([child, element, titled, label, template, joined, among].every(Boolean));
});

test("text is taken as it is only where nobody reads it", () => {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  const raw = files.filter((name) => /\braw\(/.test(readFileSync(`src/${name}`, "utf8")));
  assert.ok(files.length > 40);
  assert.deepEqual(raw.sort(), ["shared/outside.ts", "state.ts"]);
});
