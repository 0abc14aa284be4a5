import { chromium } from "playwright-core";
const [file, fragment, out, theme = "light", size = "1400x860", ...acts] = process.argv.slice(2);
const [w, h] = size.split("x").map(Number);
const b = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const p = await b.newPage({ viewport: { width: w, height: h }, colorScheme: theme });
p.on("console", (m) => console.log("console", m.type(), m.text()));
p.on("pageerror", (e) => console.log("pageerror", e.message, e.stack));
p.on("request", (r) => { if (!r.url().startsWith("file:")) console.log("request", r.url()); });
await p.goto(`file://${file}#${fragment}`);
await p.waitForTimeout(700);
for (const act of acts) { await eval(`(async()=>{${act}})()`); await p.waitForTimeout(400); }
await p.screenshot({ path: out });
await b.close();
