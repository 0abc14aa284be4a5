// Pages of recordings that are not as usual, and the verdict of a timed comparison.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { share } from "../src/shared/units";
import { open, reports, stop, text, until } from "./browser";

after(stop);

const VIEWS = ["findings", "flame", "calls", "timeline", "syscalls", "processes", "source", "about"];

for (const name of ["nothing.html", "cut.html", "deep.html"]) {
  test(`every view of ${name} opens in silence`, async () => {
    const { page, troubles, close } = await open(name);
    for (const view of VIEWS) {
      for (const more of ["", "&metric=off", "&metric=wall&mode=time", "&mode=sandwich&fn=0", "&search=a"]) {
        await page.evaluate((to) => {
          location.hash = to;
        }, `view=${view}${more}`);
        await page.waitForSelector(`main > section.${view}`);
      }
    }
    assert.deepEqual(troubles, []);
    await close();
  });
}

test("a recording that lost a part says so first", async () => {
  const { page, close } = await open("cut.html");
  assert.match(await text(page, ".findings > p"), /The recording is incomplete/);
  await close();
});

test("a stack 30,000 calls deep is drawn on a canvas of the window's size", async () => {
  const { page, close } = await open("deep.html", "view=flame");
  await page.waitForSelector(".flame-host[data-painted]");
  const seen = await page.locator(".flame-host").evaluate((host) => {
    host.scrollTop = host.scrollHeight;
    const canvas = host.querySelector("canvas")!;
    return { rows: host.scrollHeight / 20, height: canvas.height };
  });
  assert.ok(seen.rows > 1000, String(seen.rows));
  assert.ok(seen.height < 900, String(seen.height));
  await page.focus(".flame-host");
  for (const key of ["ArrowDown", "ArrowDown", "Enter", "Escape", "f", "Home"])
    await page.keyboard.press(key);
  await until("turned over", async () => page.url().includes("up=1"));
  await close();
});

test("stacks that could not be followed to their start are among what was not seen", async () => {
  const { page, close } = await open("deep.html", "view=about");
  const { complete_stacks_share: complete } = reports.deep!.recording;
  assert.ok(complete < 0.5, String(complete));
  assert.ok(
    (await text(page, ".about")).includes(`${share(1 - complete)} of the samples have an incomplete stack`),
  );
  await page.keyboard.press("2");
  assert.match(await text(page, ".flame .bar"), /samples have an incomplete stack/);
  await close();
  const whole = await open("gpg.html", "view=about");
  const told = /incomplete stack/.test(await text(whole.page, ".about"));
  assert.equal(told, reports.gpg!.recording.complete_stacks_share < 1);
  await whole.close();
});

test("the verdict of timed runs stands above both recordings", async () => {
  const { page, troubles, requests, close } = await open("verdict.html");
  // On a machine that is busy meanwhile pairs are set aside, at worst all of them.
  const verdict = await text(page, ".verdict");
  assert.match(
    verdict,
    /^B is faster than A.*A takes [\d.]+× as long as B, [\d.]+× to [\d.]+×, from \d pairs|^It is unclear/,
  );
  assert.match(await text(page, ".fates"), /gone/);
  assert.deepEqual(troubles, []);
  assert.deepEqual(requests, []);
  await close();
});
