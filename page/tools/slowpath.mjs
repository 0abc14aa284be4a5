// The recordings and pages that tests and screenshots are made of: real ones, of the cases.
//
// slowpath writes the page that it was built with. With PAGE_DIST=1 in the environment the one in dist is put in its place, so that work
// on the page alone needs no new build of slowpath: `npm run build && PAGE_DIST=1 npm run e2e`.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
  renew(`${dir}/${output}`);
}

/** Puts the page in dist into a file that slowpath wrote, if that is asked for. */
export function renew(file) {
  if (process.env.PAGE_DIST !== "1") return;
  const html = readFileSync(file, "utf8");
  const between = (from, begin, end) => {
    const at = from + begin.length;
    return html.slice(at, html.indexOf(end, at));
  };
  const pairs = [
    [between(html.indexOf("<style>"), "<style>", "</style>"), readFileSync(`${page}/dist/page.css`, "utf8")],
    [
      between(html.lastIndexOf("<script>"), "<script>", "</script>"),
      readFileSync(`${page}/dist/page.js`, "utf8"),
    ],
  ];
  const hash = (text) => `sha256-${createHash("sha256").update(text).digest("base64")}`;
  const renewed = pairs.reduce(
    (text, [old, own]) => text.split(old).join(own).split(hash(old)).join(hash(own)),
    html,
  );
  writeFileSync(file, renewed);
}

/** Builds a case; returns the path of one of its programs. */
export function built(name, side) {
  execFileSync("make", ["-s", "-C", `${root}/cases/${name}`], { stdio: ["ignore", "ignore", "inherit"] });
  return `${root}/cases/${name}/build/${side}`;
}
