// Colours of the style sheet: text can be read on what it stands on, in both themes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { contrast } from "./contrast";

const css = readFileSync("src/style.css", "utf8");

function colours(block: RegExp): Record<string, string> {
  const body = block.exec(css)?.[1] ?? "";
  return Object.fromEntries(
    [...body.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map((found) => [found[1]!, found[2]!]),
  );
}

const themes = {
  light: colours(/:root \{([^}]*)\}/),
  dark: colours(/:root\[data-theme="dark"\] \{([^}]*)\}/),
};

for (const [theme, of] of Object.entries(themes)) {
  test(`text of the ${theme} theme has a contrast of 4.5 and more`, () => {
    for (const text of ["text", "faint", "accent", "cost", "gain", "warning", "lit"]) {
      for (const ground of ["ground", "raised"]) {
        const found = contrast(of[text]!, of[ground]!);
        assert.ok(found >= 4.5, `${text} on ${ground}: ${found}`);
      }
    }
    // Rows that are lit or selected, numbers over their bars, the badge.
    for (const [text, ground] of [
      ["text", "lit-ground"],
      ["lit", "lit-ground"],
      ["text", "accent-ground"],
      ["faint", "accent-ground"],
      ["text", "bar"],
      ["ground", "cost"],
      ["ground", "text"],
    ]) {
      const found = contrast(of[text!]!, of[ground!]!);
      assert.ok(found >= 4.5, `${text} on ${ground}: ${found}`);
    }
  });

  test(`marks of the ${theme} theme have a contrast of 3 and more`, () => {
    const marks = Object.keys(of).filter((name) => name.startsWith("kind-"));
    for (const mark of [...marks, "lit", "cost", "accent"]) {
      const found = contrast(of[mark]!, of.ground!);
      assert.ok(found >= 3, `${mark}: ${found}`);
    }
  });
}
