// The page's benchmark: a recording of 1,000,000 samples on 100,000 stacks, how soon it is seen and how long a zoom draws, and the
// file's size beside that of an SVG of the same stacks (by inferno-flamegraph, if that is on the PATH).
//
// Usage: make page-bench, or node page/tools/bench.mjs [SAMPLES [STACKS]]
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, openSync, statSync } from "node:fs";
import { chromium } from "playwright-core";
import { folder, chromium as paths, root, slowpath } from "./slowpath.mjs";

const dir = folder("bench");
execFileSync(
  "cargo",
  [
    "run",
    "--release",
    "--quiet",
    "-p",
    "slowpath-page",
    "--example",
    "generate",
    "--",
    dir,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: "inherit" },
);
let begun = Date.now();
execFileSync(slowpath, ["view", `${dir}/recording`, "--output", `${dir}/page.html`]);
const made = Date.now() - begun;
const mib = (path) => `${(statSync(path).size / 2 ** 20).toFixed(1)} MiB`;

const browser = await chromium.launch({ executablePath: paths.find(existsSync), args: ["--no-sandbox"] });
const middle = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const rounds = 5;
const painted = [];
const drawn = [];
const zooms = [];
const searches = [];
for (let round = 0; round < rounds; round++) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, reducedMotion: "reduce" });
  await page.goto(`file://${dir}/page.html#view=flame`);
  await page.waitForSelector(".flame-host[data-painted]");
  const times = await page.evaluate(() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    flame: performance.getEntriesByName("flame graph")[0]?.startTime,
  }));
  painted.push(times.paint);
  drawn.push(times.flame);
  // From the key until it is drawn, and what of that the drawing took.
  await page.focus(".flame-host");
  for (let step = 0; step < 12; step++) {
    const zoom = await page.evaluate(async () => {
      const host = document.querySelector(".flame-host");
      const press = (key) =>
        host.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      press("ArrowDown");
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      delete host.dataset.painted;
      const begun = performance.now();
      press("Enter");
      await new Promise((resolve) => {
        if (host.dataset.painted !== undefined) return resolve();
        new MutationObserver(resolve).observe(host, { attributeFilter: ["data-painted"] });
      });
      return { whole: performance.now() - begun, paint: Number(host.dataset.painted) };
    });
    zooms.push(zoom);
  }
  await page.keyboard.press("Home");
  const before = Date.now();
  await page.fill("#search", "operation_77");
  await page.waitForSelector(".matched b");
  searches.push(Date.now() - before);
  await page.close();
}
await browser.close();

const rows = [
  ["samples, stacks", process.argv.slice(2).join(", ") || "1,000,000, 100,000"],
  ["slowpath view", `${made} ms`],
  ["page", mib(`${dir}/page.html`)],
];
begun = Date.now();
const svg = `${dir}/flame.svg`;
const inferno = spawnSync("inferno-flamegraph", [`${dir}/collapsed`], {
  stdio: ["ignore", openSync(svg, "w"), "ignore"],
});
if (inferno.status === 0) {
  rows.push(["inferno-flamegraph", `${Date.now() - begun} ms`], ["its SVG", mib(svg)]);
  const whole = spawnSync("inferno-flamegraph", ["--minwidth", "0", `${dir}/collapsed`], {
    stdio: ["ignore", openSync(svg, "w"), "ignore"],
  });
  if (whole.status === 0) rows.push(["its SVG with every frame", mib(svg)]);
} else rows.push(["inferno-flamegraph", "not installed"]);
const ms = (values) => `${middle(values).toFixed(1)} ms (most ${Math.max(...values).toFixed(1)})`;
rows.push(
  ["first paint", ms(painted)],
  ["flame graph drawn", ms(drawn)],
  ["a zoom, from the key until it is drawn", ms(zooms.map((zoom) => zoom.whole))],
  ["of that drawing", ms(zooms.map((zoom) => zoom.paint))],
  ["a search, with 120 ms of waiting for more letters", ms(searches)],
);
for (const [name, value] of rows) console.log(`${name.padEnd(52)}${value}`);
