// Every view of pages made of real recordings: what stands there is what the report says.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { count } from "../src/shared/units";
import { headline, open, reported, reports, stop, text, until } from "./browser";

after(stop);

const VIEWS = ["findings", "flame", "calls", "timeline", "syscalls", "processes", "source", "about"];

for (const name of ["gnutls.html", "gpg.html", "source.html"]) {
  test(`every view of ${name} opens, in silence and without a request`, async () => {
    const { page, troubles, requests, close } = await open(name);
    for (const view of VIEWS) {
      await page.evaluate((to) => {
        location.hash = `view=${to}`;
      }, view);
      await page.waitForSelector(`main > section.${view}`);
      assert.ok((await text(page, "main")).length > 20, view);
    }
    for (const number of VIEWS.keys()) {
      await page.keyboard.press(String(number + 1));
      await page.waitForSelector(`main > section.${VIEWS[number]}`);
    }
    assert.deepEqual(troubles, []);
    assert.deepEqual(requests, []);
    await close();
  });
}

test("the finding is the report's, with its plot", async () => {
  const { page, close } = await open("gnutls.html");
  const [finding] = reports.gnutls!.findings;
  assert.equal(finding?.cause, "superlinear-work");
  assert.equal(finding.title, "work grows with every call");
  assert.equal(await text(page, ".card h2"), headline(finding));
  assert.equal(await text(page, ".guilty code"), finding.function);
  assert.ok((await page.locator(".card .plot canvas").count()) >= 2);
  const drawn = await page
    .locator(".card .uplot canvas")
    .first()
    .evaluate((element) => {
      const canvas = element as HTMLCanvasElement;
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      return data.some((value) => value !== 0);
    });
  assert.ok(drawn);
  await close();
});

test("a finding's link lights up the right frames in every view", async () => {
  const { page, close } = await open("gnutls.html");
  const [finding] = reports.gnutls!.findings;
  await page.click("text=flame graph >> nth=-1");
  await page.waitForSelector(".flame-host[data-painted]");
  assert.match(page.url(), /finding=1/);
  // As much is lit as the finding says it costs.
  const lit = await text(page, ".chip b");
  const told = Number.parseFloat(lit.replace(">", ""));
  assert.ok(Math.abs(told - finding!.share * 100) <= 2, `${lit} of ${finding!.share}`);
  await page.keyboard.press("3");
  await page.check("input[type=checkbox]");
  await until(
    "only what is lit",
    async () => (await page.locator(".grid-box tbody tr.is-lit").count()) === 1,
  );
  assert.match(await text(page, ".grid-box tbody tr.is-lit"), new RegExp(finding!.function));
  await page.keyboard.press("4");
  await page.waitForSelector(".marker.is-on");
  await close();
});

test("a search matches the percent that the report prints", async () => {
  const report = reports.gnutls!;
  const { page, close } = await open("gnutls.html", "view=flame");
  // Names that stand for one function only: a search finds all of that name.
  const once = report.hot.filter(
    (row) => report.hot.filter((other) => other.function === row.function).length === 1,
  );
  for (const hot of once.slice(0, 5)) {
    const escaped = hot.function.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    await page.fill("#search", `/^${escaped}$/`);
    await until(`matched ${hot.function}`, async () => {
      const matched = await page.locator(".matched b").first().textContent({ timeout: 4000 });
      return matched === reported(report, hot.total_ns);
    });
  }
  await page.fill("#search", "no such function");
  await until("no matches", async () => (await text(page, ".matched")) === "no matches");
  await page.fill("#search", "/(/");
  await until(
    "no expression",
    async () => (await text(page, ".matched")) === "not a valid regular expression",
  );
  await close();
});

test("what is typed while a search is being shown is looked for next", async () => {
  const { page, close } = await open("gnutls.html", "view=flame");
  // In the very moment in which the answer is in the document, as fast as nobody types.
  await page.evaluate(() => {
    const input = document.querySelector<HTMLInputElement>("#search")!;
    const observer = new MutationObserver(() => {
      observer.disconnect();
      input.value = "another";
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
    observer.observe(document.querySelector(".matched")!, { childList: true, subtree: true });
  });
  await page.fill("#search", "malloc");
  await until("the text that was typed last", async () => page.url().includes("search=another"));
  assert.equal(await page.inputValue("#search"), "another");
  await close();
});

test("the table of calls has the report's figures", async () => {
  const report = reports.gnutls!;
  const { page, close } = await open("gnutls.html", "view=calls");
  await page.click("th button:has-text('self')");
  const [hot] = report.hot;
  const row = await page.locator(".grid-box tbody tr").first().allTextContents();
  assert.match(row[0]!, new RegExp(hot!.function.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
  assert.ok(row[0]!.includes(reported(report, hot!.self_ns)), row[0]);
  await page.locator(".grid-box tbody tr").first().click();
  await page.waitForSelector(".around h3");
  assert.ok((await page.locator(".around .edges tr").count()) > 0);
  await close();
});

test("the flame graph is walked by keys alone, and the URL keeps where it was", async () => {
  const { page, troubles, close } = await open("gnutls.html");
  await page.keyboard.press("2");
  await page.focus(".flame-host");
  assert.equal(await text(page, ".details-name"), "all");
  await page.keyboard.press("ArrowDown");
  const first = await text(page, ".details-name");
  assert.notEqual(first, "all");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await until("zoomed", async () => page.url().includes("zoom="));
  const zoomed = page.url();
  const second = await text(page, ".details-name");
  await page.reload();
  await page.waitForSelector(".flame-host[data-painted]");
  await until("as before", async () => (await text(page, ".details-name")) === second);
  assert.equal(page.url(), zoomed);
  await page.focus(".flame-host");
  await page.keyboard.press("Escape");
  await until("one out", async () => (await text(page, ".details-name")) === first);
  await page.keyboard.press("Home");
  await until("all", async () => !page.url().includes("zoom="));
  await page.keyboard.press("f");
  await until("turned over", async () => page.url().includes("up=1"));
  await page.keyboard.press("ArrowUp");
  await until("inwards is up now", async () => (await text(page, ".details-name")) === first);
  await page.keyboard.press("s");
  await page.waitForSelector(".sandwich .flame-host[data-painted]");
  await page.keyboard.press("/");
  await until("the search has the focus", () => page.evaluate(() => document.activeElement?.id === "search"));
  await page.goBack();
  assert.deepEqual(troubles, []);
  await close();
});

test("a click zooms, the back button goes out, the pointer tells", async () => {
  const { page, close } = await open("gnutls.html", "view=flame");
  await page.waitForSelector(".flame-host[data-painted]");
  const box = (await page.locator(".flame-host").boundingBox())!;
  await page.mouse.move(box.x + 40, box.y + 30);
  const under = await text(page, ".tooltip-name");
  assert.match(await text(page, ".tooltip"), /total.*self/);
  await page.mouse.click(box.x + 40, box.y + 30);
  await until("zoomed", async () => page.url().includes("zoom="));
  assert.equal(await text(page, ".details-name"), under);
  await page.goBack();
  await until("out again", async () => !page.url().includes("zoom="));
  await close();
});

test("the canvas is never larger than what is seen of it", async () => {
  const { page, close } = await open("gnutls.html", "view=flame");
  await page.waitForSelector(".flame-host[data-painted]");
  const size = await page.locator(".flame-canvas").evaluate((element) => {
    const canvas = element as HTMLCanvasElement;
    return [canvas.width, canvas.height];
  });
  assert.ok(size[0]! <= 1300 && size[1]! <= 850, String(size));
  await close();
});

test("a range that is dragged out holds in every view", async () => {
  const { page, close } = await open("gnutls.html", "view=calls");
  const all = await text(page, ".grid-box tbody tr td:nth-child(3)");
  const box = (await page.locator(".overview").boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.25, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 12, { steps: 4 });
  await page.mouse.up();
  await until("a range", async () => page.url().includes("range="));
  await until("less time", async () => (await text(page, ".grid-box tbody tr td:nth-child(3)")) !== all);
  // A quarter of the run holds at most a quarter of its elapsed time; how much of that was on the CPU is the machine's.
  const cell = await text(page, ".grid-box tbody tr td:nth-child(3)");
  const seconds = Number.parseFloat(cell) / (cell.endsWith("ms") ? 1000 : 1);
  const most = (reports.gnutls!.recording.wall_ns / 1e9) * 0.26;
  assert.ok(seconds > 0.02 && seconds <= most, `${cell}, at most ${most} s`);
  await page.keyboard.press("2");
  await page.waitForSelector(".flame-host[data-painted]");
  assert.match(await text(page, ".scope-time .link"), /selected/);
  await page.keyboard.press("5");
  await page.waitForSelector(".syscalls");
  await page.click(".scope-time .link");
  await until("all again", async () => !page.url().includes("range="));
  await close();
});

test("the timeline selects a range and a process; both orders of the flame graph draw", async () => {
  const { page, troubles, close } = await open("gpg.html", "view=timeline");
  const box = (await page.locator(".lanes").boundingBox())!;
  await page.mouse.move(box.x + 500, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 700, box.y + 22, { steps: 3 });
  await page.mouse.up();
  await until("a range", async () => page.url().includes("range="));
  await page.click("text=Zoom to selection");
  await page.click("text=Whole run");
  await page.mouse.click(box.x + 60, box.y + 12);
  await until("a process", async () => page.url().includes("who=p0"));
  for (const metric of ["off", "wall", "cpu"]) {
    for (const mode of ["merged", "time"]) {
      await page.evaluate((to) => {
        location.hash = to;
      }, `view=flame&metric=${metric}&mode=${mode}`);
      await page.waitForSelector(".flame-host[data-painted]");
    }
  }
  assert.deepEqual(troubles, []);
  await close();
});

test("processes and system calls are all there", async () => {
  const { page, close } = await open("gpg.html", "view=processes");
  const told = await text(page, ".processes .count");
  assert.ok(Number.parseInt(told.replace(",", ""), 10) > 400, told);
  await page.click("text=By program");
  await page.waitForSelector(".processes .grid-box td:has-text('gpg')");
  await page.keyboard.press("5");
  const calls = await text(page, ".syscalls .count");
  for (const by of ["By call", "By file", "Waits", "By call site"]) {
    await page.click(`.syscalls button:has-text("${by}")`);
    await page.waitForSelector(".syscalls .grid-box tbody td:not(.spacer)");
  }
  assert.equal(await text(page, ".syscalls .count"), calls);
  await close();
});

test("the source stands there with its cost only where it was asked for", async () => {
  const without = await open("gnutls.html", "view=source");
  assert.match(await text(without.page, ".empty"), /not in this page/);
  await without.close();
  const { page, close } = await open("source.html", "view=source");
  assert.equal(await text(page, ".files-head"), "selftotalfile");
  // Files share the time among them: what is called from them is none of theirs.
  const shares = await page.locator(".file .number:first-child").allTextContents();
  const sum = shares.map((cell) => Number.parseFloat(cell.replace(/[<>]/, ""))).reduce((a, b) => a + b, 0);
  assert.ok(sum > 0 && sum < 102, shares.join());
  await page.click('.file:has-text("rdn_list.c"), .file:has-text("loader.c")');
  await page.waitForSelector(".lines tr.has-cost");
  const lines = await page.locator(".lines tr.has-cost td.number").allTextContents();
  assert.ok(lines.some((cell) => cell.includes("%")));
  // Whoever is to send it away sees what is in it.
  await page.evaluate(() => {
    location.hash = "view=about";
  });
  const told = await text(page, ".about .sources");
  assert.match(told, /^included\d+ files.*loader\.c.*read from.*\/cases\/gnutls.*excluded.*not in a folder/s);
  await close();
});

test("what was recorded is shown", async () => {
  const { page, close } = await open("gnutls.html", "view=about");
  const about = await text(page, ".about");
  assert.ok(about.includes("/etc/ssl/certs") && about.includes(count(reports.gnutls!.recording.samples)));
  await close();
});

test("both themes draw, and one can be chosen", async () => {
  for (const theme of ["light", "dark"] as const) {
    const { page, close } = await open("gnutls.html", "view=flame", { theme });
    const shown = () => page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(await shown(), theme);
    await page.click(".theme");
    assert.notEqual(await shown(), theme);
    await close();
  }
});

/** A time as the page prints it. */
const TIME = /\d (s|ms|µs|ns)\b/;

test("two recordings: what is gone, frames on one side only, functions that changed", async () => {
  const { page, troubles, close } = await open("compare.html");
  await page.waitForSelector(".compare .flame-host[data-painted]");
  assert.match(await text(page, ".fates .gone"), /work grows with every call/);
  for (const choice of ["Normalised", "A wide", "B wide", "A + B wide", "Functions"]) {
    await page.click(`.compare button:has-text("${choice}") >> nth=-1`);
  }
  // What is scaled is no time: only shares are told.
  const row = await text(page, ".grid-box tbody tr");
  assert.match(row, /\d points.*\d %/);
  assert.doesNotMatch(row.split("%")[0]!, TIME);
  await page.click('.compare button:has-text("Flame graph of both")');
  await page.focus(".flame-host");
  await page.keyboard.press("ArrowDown");
  assert.match(await text(page, ".details"), /A, before.*B, after.*change/);
  assert.doesNotMatch(await text(page, ".details-figures"), TIME);
  await page.click('.compare button:has-text("Absolute")');
  assert.match(await text(page, ".details-figures"), TIME);
  await page.click(".tabs button:has-text('Findings')");
  await page.click(".head .segments button:has-text('B')");
  await until("the fixed side has none", async () => /No known cause/.test(await text(page, ".findings")));
  assert.deepEqual(troubles, []);
  await close();
});

test("time that passed for one process is lit in that process alone, and shares never exceed the whole", async () => {
  const { page, close } = await open("gpg.html");
  const [finding] = reports.gpg!.findings;
  await page.locator(".card footer .link").first().click();
  await page.waitForSelector(".flame-host[data-painted]");
  assert.match(page.url(), /who=p0/);
  const lit = Number.parseFloat(await text(page, ".chip b"));
  assert.ok(Math.abs(lit - finding!.share * 100) < 12, `${lit} of ${finding!.share}`);
  await page.evaluate(() => {
    location.hash = "view=flame";
  });
  // Processes that are too short to be sampled leave a little of it out; daemons that nobody waits for are in it.
  await until("nearly the whole", async () => {
    const whole = /total .*· >?(\d+) %/.exec(await text(page, ".details-figures span"));
    return whole !== null && Number(whole[1]) > 85 && Number(whole[1]) <= 100;
  });
  await close();
});

test("the first level of many processes is the process, and can be left out", async () => {
  const { page, troubles, close } = await open("gpg.html", "view=flame");
  await page.waitForSelector(".flame-host[data-painted]");
  const inwards = async () => {
    await page.focus(".flame-host");
    await page.keyboard.press("Home");
    await until("all of it", async () => (await text(page, ".details-name")) === "all");
    await page.waitForTimeout(100);
    await page.keyboard.press("ArrowDown");
    return text(page, ".details-name");
  };
  for (const mode of ["Merged", "Time order"]) {
    await page.click(`.flame button:has-text("${mode}")`);
    assert.match(await inwards(), /^[\w-]+ \d+$/, mode);
    // What it was started with, and nothing that only functions have.
    assert.ok((await text(page, ".details-where")).length > 3, mode);
    assert.equal(await page.locator(".details-do").count(), 0, mode);
    await page.keyboard.press("Enter");
    await until("zoomed", async () => page.url().includes("zoom="));
    const zoomed = page.url();
    await page.reload();
    await page.waitForSelector(".flame-host[data-painted]");
    assert.equal(page.url(), zoomed);
  }
  await page.click(".flame .bar label:has-text('by process')");
  await until("left out", async () => page.url().includes("processes=0"));
  assert.doesNotMatch(await inwards(), /^[\w-]+ \d+$/);
  assert.deepEqual(troubles, []);
  await close();
  const one = await open("gnutls.html", "view=flame");
  assert.equal(await one.page.locator(".flame .bar label").count(), 0);
  await one.close();
});

test("time on and off the CPU says that waiting for a CPU is none of it", async () => {
  const { page, close } = await open("gnutls.html", "view=flame");
  const wall = page.locator(".scope .segments button").nth(2);
  assert.match(
    (await wall.getAttribute("title")) ?? "",
    /on the CPU and asleep.*waiting for a CPU is not included/,
  );
  assert.doesNotMatch(await text(page, ".scope"), /without waiting/);
  await wall.click();
  await until("the note", async () => /without waiting for a CPU/.test(await text(page, ".scope .metric")));
  await close();
});
