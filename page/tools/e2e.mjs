// Makes pages of real recordings, then runs e2e/*.test.ts on them in headless Chromium.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { built, folder, page, record, renew, root, slowpath, view } from "./slowpath.mjs";

const dir = folder("e2e");
const findings = {};
findings.gnutls = record(dir, [built("gnutls", "slow"), "/etc/ssl/certs"]);
findings.fixed = record(dir, [built("gnutls", "fixed"), "/etc/ssl/certs"]);
findings.gpg = record(dir, [built("gpg", "slow")]);
execFileSync("gcc", ["-O2", "-g", "-pthread", "-o", `${dir}/hostile`, `${page}/e2e/hostile.c`], { cwd: dir });
// The source that it says it has: a line that reads otherwise than the compiler takes it.
const turned = "\tint admin = 0; /*\u202e } \u2066if (admin)\u2069 \u2066 begin */\n";
writeFileSync(`${dir}/<svg onload=alert(3)>\x1b\u202e.c`, `${turned.repeat(40)}\x1b[2J\n`);
findings.hostile = record(dir, [
  `${dir}/hostile`,
  "</script><script>document.title='owned'</script>",
  "<!--",
  "]]>",
  "two\nlines",
  "\x1b[31mred",
  "photo\u202egpj.exe",
]);
const id = (name) => findings[name].recording.id;
view(dir, [id("gnutls")], "gnutls.html");
view(dir, [id("gnutls")], "source.html", "--source-root", `${root}/cases/gnutls`);
view(dir, [id("gpg")], "gpg.html");
view(dir, [id("hostile")], "hostile.html", "--with-source");
view(dir, [id("gnutls"), id("fixed")], "compare.html");
// What is not as usual: next to nothing recorded, a recording that lost a part, a stack as deep as few are.
findings.nothing = record(dir, ["/bin/true"]);
view(dir, [id("nothing")], "nothing.html");
cpSync(`${dir}/recordings/${id("gnutls")}`, `${dir}/recordings/cut`, { recursive: true });
rmSync(`${dir}/recordings/cut/stacks`, { recursive: true });
view(dir, ["cut"], "cut.html");
execFileSync("gcc", ["-O1", "-g", "-o", `${dir}/deep`, `${page}/e2e/deep.c`]);
findings.deep = record(dir, [`${dir}/deep`]);
view(dir, [id("deep")], "deep.html");
const sides = ["slow", "fixed"].map((side) => `${built("small-io", side)} ${dir}/table.${side}`);
const compare = [
  "compare",
  "--dir",
  `${dir}/recordings`,
  "--max-pairs",
  "5",
  "--html",
  "verdict.html",
  "--",
  ...sides,
];
execFileSync(`${root}/scripts/as-root`, [slowpath, ...compare], {
  cwd: dir,
  stdio: ["ignore", "ignore", "inherit"],
});
renew(`${dir}/verdict.html`);
writeFileSync(`${dir}/findings.json`, JSON.stringify(findings));

const tests = readdirSync(`${page}/e2e`).filter((name) => name.endsWith(".test.ts"));
await build({
  absWorkingDir: page,
  entryPoints: tests.map((name) => `e2e/${name}`),
  outdir: `${dir}/tests`,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node18",
  sourcemap: "inline",
  logLevel: "warning",
});
const files = tests.map((name) => `${dir}/tests/${name.replace(/\.ts$/, ".mjs")}`);
const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], {
  stdio: "inherit",
  env: { ...process.env, SLOWPATH_E2E: dir, SLOWPATH: slowpath, SLOWPATH_ROOT: root },
});
process.exit(run.status ?? 1);
