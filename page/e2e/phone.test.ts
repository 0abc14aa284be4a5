// Pages in a window as narrow as a phone's: names and code are seen, and the page itself never scrolls sideways.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { open, stop, until } from "./browser";

after(stop);

const PHONE = { width: 390, height: 844 };
const VIEWS = ["findings", "flame", "calls", "timeline", "syscalls", "processes", "source", "about"];

async function go(page: Page, view: string, more = ""): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, `view=${view}${more}`);
  await page.waitForSelector(`main > section.${view}`);
}

/** By how many pixels the page, or what a view stands in, is wider than the window. */
function beyond(page: Page): Promise<number[]> {
  return page.evaluate(() =>
    [document.documentElement, document.body, document.querySelector("main")!].map(
      (element) => element.scrollWidth - Math.min(element.clientWidth, innerWidth),
    ),
  );
}

for (const [name, views] of [
  ["gnutls.html", VIEWS],
  ["gpg.html", VIEWS],
  ["hostile.html", VIEWS],
  ["source.html", ["source"]],
  ["compare.html", ["compare", ...VIEWS]],
  ["verdict.html", ["compare"]],
] as const) {
  test(`${name} fits a phone in every view`, async () => {
    const { page, troubles, close } = await open(name, "", { viewport: PHONE });
    for (const view of views) {
      for (const more of ["", "&metric=wall&finding=1&fn=1", "&mode=sandwich"]) {
        await go(page, view, more);
        assert.deepEqual(await beyond(page), [0, 0, 0], `${view}${more}`);
        const tab = (await page.locator(".tabs [aria-current=page]").boundingBox())!;
        assert.ok(
          tab.x > -1 && tab.x + tab.width < PHONE.width + 1,
          `the tab of ${view}: ${JSON.stringify(tab)}`,
        );
      }
    }
    assert.deepEqual(troubles, []);
    await close();
  });
}

test("in tables the names are seen, and stay while the figures are scrolled", async () => {
  const { page, close } = await open("gpg.html", "", { viewport: PHONE });
  for (const view of ["calls", "syscalls", "processes"]) {
    await go(page, view);
    const name = page.locator(".grid-box tbody tr:nth-child(3) td.words").first();
    for (const scrolled of [0, 150]) {
      await page.locator(".grid-box").evaluate((box, left) => {
        box.scrollLeft = left;
      }, scrolled);
      const box = (await name.boundingBox())!;
      assert.ok(
        box.x >= 0 && box.x < 20 && box.width > 140 && box.width < 240,
        `${view} ${JSON.stringify(box)}`,
      );
    }
  }
  await go(page, "findings");
  const hot = (await page.locator(".hot tbody .link").first().boundingBox())!;
  assert.ok(hot.x >= 0 && hot.x + hot.width <= PHONE.width, JSON.stringify(hot));
  await close();
});

test("code begins in the left half, and scrolls in its own place", async () => {
  const { page, close } = await open("source.html", "view=source", { viewport: PHONE });
  const code = (await page.locator(".lines td.text").nth(20).boundingBox())!;
  assert.ok(code.x > 0 && code.x < PHONE.width / 2, JSON.stringify(code));
  const lines = await page.locator(".lines").evaluate((box) => [box.scrollWidth, box.clientWidth]);
  assert.ok(lines[0]! > lines[1]! && lines[1]! <= PHONE.width, String(lines));
  await close();
});

test("lanes leave most of the width to time, and a drag there selects a range", async () => {
  const { page, close } = await open("gpg.html", "view=timeline", { viewport: PHONE });
  const label = (await page.locator(".marker-name").first().boundingBox())!;
  assert.ok(label.width <= 120, String(label.width));
  const box = (await page.locator(".lanes").boundingBox())!;
  await page.mouse.move(box.x + label.width + 1, box.y + 12);
  await page.mouse.down();
  await page.mouse.move(box.x + label.width + (box.width - label.width) / 2, box.y + 12, { steps: 3 });
  await page.mouse.up();
  await until("a range", async () => page.url().includes("range="));
  // The half that was dragged over begins with the run.
  const [from, to] = /range=(\w+)-(\w+)/
    .exec(page.url())!
    .slice(1)
    .map((time) => Number.parseInt(time, 36));
  assert.ok(from! < to! / 50, `${from} to ${to}`);
  await close();
});
