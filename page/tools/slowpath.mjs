// The recordings and pages that tests and screenshots are made of: real ones, of the cases.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const page = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
export const slowpath = `${root}/target/release/slowpath`;
export const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** An empty folder under page/build. */
export function folder(name) {
  const dir = `${page}/build/${name}`;
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  return dir;
}

/** Records a command into a folder, with rights where they can be had; returns the findings as JSON. It runs there too, or in `cwd`. */
export function record(dir, command, cwd = dir) {
  const kept = ["--dir", `${dir}/recordings`, "--output", `${dir}/findings.json`];
  const args = ["record", "--json", ...kept, "--", ...command];
  const run = spawnSync(`${root}/scripts/as-root`, [slowpath, ...args], { cwd, encoding: "utf8" });
  if (run.status !== 0)
    throw new Error(`recording ${command.join(" ")} ended with ${run.status}: ${run.stderr}`);
  return JSON.parse(execFileSync("cat", [`${dir}/findings.json`], { encoding: "utf8" }));
}

/** Writes the page of recordings in a folder. */
export function view(dir, recordings, output, ...more) {
  execFileSync(slowpath, ["view", "--dir", `${dir}/recordings`, ...recordings, "--output", output, ...more], {
    cwd: dir,
    stdio: "inherit",
  });
}

/** Builds a case; returns the path of one of its programs. */
export function built(name, side) {
  execFileSync("make", ["-s", "-C", `${root}/cases/${name}`], { stdio: ["ignore", "ignore", "inherit"] });
  return `${root}/cases/${name}/build/${side}`;
}
