// Takes the README's screenshots anew, of a recording of the gnutls case made here and now.
import { existsSync, mkdirSync } from "node:fs";
import { chromium } from "playwright-core";
import { built, folder, chromium as paths, record, root, view } from "./slowpath.mjs";

const dir = folder("screenshots");
const program = built("gnutls", "slow").slice(root.length + 1);
const { recording } = record(dir, [program, "/etc/ssl/certs"], root);
view(dir, [recording.id], "page.html");
const out = `${root}/docs/images`;
mkdirSync(out, { recursive: true });
const browser = await chromium.launch({ executablePath: paths.find(existsSync), args: ["--no-sandbox"] });
const shots = [
  ["findings", "", "light", { width: 1240, height: 860 }],
  ["flame-graph", "view=flame&finding=1", "dark", { width: 1240, height: 700 }],
];
for (const [name, fragment, colorScheme, viewport] of shots) {
  const page = await browser.newPage({
    viewport,
    colorScheme,
    deviceScaleFactor: 1.5,
    reducedMotion: "reduce",
  });
  await page.goto(`file://${dir}/page.html#${fragment}`);
  await page.waitForSelector("main canvas");
  await page.waitForTimeout(400);
  await page.screenshot({ path: `${out}/${name}.png` });
  await page.close();
}
await browser.close();
console.log(`docs/images: ${shots.map(([name]) => `${name}.png`).join(", ")}`);
