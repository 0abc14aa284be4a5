// Builds dist/page.js and dist/page.css: one script and one style, which the Rust crate `page` puts into the file.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

await build({
  absWorkingDir: root,
  entryPoints: { page: "src/main.tsx" },
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "inline",
  logLevel: "warning",
  metafile: false,
});

// Nothing in the script may end its own element or begin a comment in it.
const script = `${root}/dist/page.js`;
const text = readFileSync(script, "utf8");
const safe = text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
if (safe !== text) writeFileSync(script, safe);
