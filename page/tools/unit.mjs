// Runs test/*.test.ts with Node's own runner: bundled first, because the oldest Node that builds the page reads no TypeScript.
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = `${root}/build/test`;
rmSync(out, { recursive: true, force: true });
const tests = readdirSync(`${root}/test`).filter((name) => /\.test\.tsx?$/.test(name));
await build({
  absWorkingDir: root,
  entryPoints: tests.map((name) => `test/${name}`),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node18",
  sourcemap: "inline",
  logLevel: "warning",
});
const files = tests.map((name) => `${out}/${name.replace(/\.tsx?$/, ".mjs")}`);
const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], {
  stdio: "inherit",
  cwd: root,
});
process.exit(run.status ?? 1);
