// Pages on paper: all of it is there, over as many pages as it takes, in light colours, without what only serves the screen.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { open, stop, text } from "./browser";

after(stop);

const VIEWS = ["findings", "flame", "calls", "timeline", "syscalls", "processes", "source", "about"];

/** How many pages it takes on A4. */
async function pages(page: Page): Promise<number> {
  const pdf = await page.pdf({ format: "A4" });
  return (pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) ?? []).length;
}

/** As it is laid out for paper, the browser's event included. */
async function prepare(page: Page): Promise<void> {
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
}

async function back(page: Page): Promise<void> {
  await page.emulateMedia({ media: null });
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
}

/** What is cut off: elements of which less is seen than there is. */
function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("body, #page, main, main *")]
      .filter((element) => {
        const { overflowY, display } = getComputedStyle(element);
        return (
          overflowY !== "visible" && display !== "inline" && element.scrollHeight > element.clientHeight + 2
        );
      })
      .map((element) => `${element.tagName}.${element.className}`),
  );
}

test("nothing is cut off in any view", async () => {
  for (const name of ["gnutls.html", "source.html"]) {
    const { page, troubles, close } = await open(name, "", { theme: "dark" });
    for (const view of VIEWS) {
      await page.evaluate((to) => {
        location.hash = `view=${to}`;
      }, view);
      await page.waitForSelector(`main > section.${view}`);
      await prepare(page);
      assert.deepEqual(await cutOff(page), [], `${name} ${view}`);
      for (const gone of [".overview", ".theme", ".hint", ".details-do", ".show-in", ".flame-host", ".lanes"])
        assert.equal(await page.locator(`${gone} >> visible=true`).count(), 0, `${view}: ${gone}`);
      // Of the tabs, the view's name is left.
      assert.equal(await page.locator(".tabs button >> visible=true").count(), 1, view);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
      await back(page);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    }
    assert.deepEqual(troubles, []);
    await close();
  }
});

test("a long table takes several pages, with every row", async () => {
  const { page, close } = await open("gnutls.html", "view=calls");
  const rows = Number.parseInt(await text(page, ".calls .count"), 10);
  assert.ok(rows > 60, String(rows));
  assert.ok((await page.locator(".grid-box tbody tr").count()) < rows);
  await prepare(page);
  assert.equal(await page.locator(".grid-box tbody tr").count(), rows);
  await back(page);
  assert.ok((await pages(page)) >= 3);
  await close();
});

test("findings are printed with all their numbers", async () => {
  const { page, close } = await open("gnutls.html", "", { theme: "dark" });
  // Where the browser itself prints, what is prepared is there in time.
  await page.evaluate(() =>
    window.addEventListener("beforeprint", () => {
      const open = document.querySelectorAll(".facts[open] tr").length;
      const { theme } = document.documentElement.dataset;
      const colour = getComputedStyle(document.body).color;
      Object.assign(window, { printed: { open, theme, colour } });
    }),
  );
  assert.ok((await pages(page)) >= 2);
  const printed = await page.evaluate(
    () => (window as unknown as { printed: { open: number; theme: string; colour: string } }).printed,
  );
  assert.ok(printed.open > 3 && printed.theme === "light", JSON.stringify(printed));
  assert.equal(await page.locator(".facts[open]").count(), 0, "closed again");
  await close();
});

test("the flame graph has all its rows and the width of the paper", async () => {
  const { page, close } = await open("gnutls.html", "view=flame");
  await page.waitForSelector(".flame-host[data-painted]");
  // Where the graph is lower than its host there is room for more rows than it has: so the host is made low.
  const size = page.viewportSize()!;
  await page.setViewportSize({ ...size, height: 300 });
  await page.waitForFunction(() => {
    const room = document.querySelector<HTMLElement>(".flame-host > div")!;
    return room.offsetHeight > room.parentElement!.clientHeight && room.offsetHeight % 20 === 0;
  });
  const rows = await page
    .locator(".flame-host > div")
    .evaluate((room) => (room as HTMLElement).offsetHeight / 20);
  await page.setViewportSize(size);
  for (const hash of ["view=flame", "view=flame&up=1"]) {
    await page.evaluate((to) => {
      location.hash = to;
    }, hash);
    await prepare(page);
    const pieces = await page.locator(".flame-printed canvas").evaluateAll((all) =>
      all.map((element) => {
        const canvas = element as HTMLCanvasElement;
        const { width } = canvas.getBoundingClientRect();
        return { rows: canvas.height / 40, short: document.querySelector("main")!.clientWidth - width };
      }),
    );
    assert.equal(
      pieces.reduce((sum, piece) => sum + piece.rows, 0),
      Math.max(rows, 1),
      hash,
    );
    assert.ok(
      pieces.every((piece) => Math.abs(piece.short) < 1),
      JSON.stringify(pieces),
    );
    await back(page);
  }
  assert.equal(await page.locator(".flame-printed").count(), 0);
  await close();
});

test("the timeline has every process", async () => {
  const { page, close } = await open("gnutls.html", "view=timeline");
  await prepare(page);
  assert.match(await text(page, ".lane-printed"), /slow/);
  const [lane, strip] = await Promise.all([
    page.locator(".lane-printed").first().boundingBox(),
    page.locator(".lane-printed canvas").first().boundingBox(),
  ]);
  assert.ok(Math.abs(lane!.x + lane!.width - strip!.x - strip!.width) < 1, JSON.stringify([lane, strip]));
  await close();
});
