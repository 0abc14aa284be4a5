// What comes from the recorded program is only ever text, and nothing leaves the page.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { dir, headline, open, reports, stop, text, until } from "./browser";

after(stop);

test("names, arguments and files that are markup are shown as they are, and do nothing", async () => {
  const { page, troubles, requests, close } = await open("hostile.html");
  const title = await page.title();
  const elements = () =>
    page.evaluate(
      () => document.querySelectorAll("#page :is(img, svg, script, iframe, b[onmouseover], u)").length,
    );
  for (const view of ["findings", "flame", "calls", "timeline", "syscalls", "processes", "source", "about"]) {
    await page.evaluate((to) => {
      location.hash = `view=${to}&search=alert`;
    }, view);
    await page.waitForSelector(`main > section.${view}`);
    await page.waitForTimeout(150);
    assert.equal(await elements(), 0, view);
    const box = await page.locator("main").boundingBox();
    for (const y of [60, 90, 120, 150]) await page.mouse.move(box!.x + 300, box!.y + y);
    assert.equal(await elements(), 0, `${view}, under the pointer`);
  }
  await page.evaluate(() => {
    location.hash = "view=about";
  });
  await until("the argument as text", async () => (await text(page, ".about")).includes("document.title="));
  await page.evaluate(() => {
    location.hash = "view=calls";
  });
  await until("the names as text", async () =>
    (await text(page, ".calls")).includes("<img src=x onerror=alert(2)>"),
  );
  await page.evaluate(() => {
    location.hash = "view=syscalls";
  });
  await page.click("text=By file");
  await until("the file as text", async () =>
    (await text(page, ".syscalls")).includes("<b onmouseover=alert(4)>"),
  );
  assert.equal(await page.title(), title);
  assert.deepEqual(troubles, []);
  assert.deepEqual(requests, []);
  await close();
});

test("the recorded program did have such names", () => {
  const names = reports.hostile!.hot.map((row) => row.function);
  assert.ok(names.includes("<img src=x onerror=alert(2)>"), names.join("\n"));
  assert.ok(names.includes("\x1b[31mturned\u202edniheb\u2066\u2069"), names.join("\n"));
});

/** What steers, turns text around or shows nothing. */
const HIDDEN = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069]/u;

test("what steers or turns text around is spelled out wherever it is shown, on canvases too", async () => {
  const { page, troubles, close } = await open("hostile.html", "", {
    first: () => {
      const drawn: string[] = [];
      Object.assign(window, { drawn });
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (this: CanvasRenderingContext2D, ...all) {
        drawn.push(all[0]);
        fillText.apply(this, all);
      };
    },
  });
  const shown = () =>
    page.evaluate(() => {
      const texts = [document.title];
      for (const element of document.querySelectorAll("#page *")) {
        for (const name of ["title", "aria-label", "aria-valuetext"])
          texts.push(element.getAttribute(name) ?? "");
        for (const node of element.childNodes)
          if (node instanceof Text)
            // Tabs of source are shown as such.
            texts.push(element.matches(".lines td.text") ? node.data.replaceAll("\t", "") : node.data);
      }
      return texts.concat((window as unknown as { drawn: string[] }).drawn.splice(0));
    });
  const seen: Record<string, string> = {};
  const look = async (view: string) => {
    const texts = await shown();
    assert.deepEqual(
      texts.filter((text) => HIDDEN.test(text)),
      [],
      view,
    );
    seen[view] = `${seen[view] ?? ""}${texts.join("\n")}`;
  };
  for (const view of ["findings", "flame", "calls", "timeline", "syscalls", "processes", "source", "about"]) {
    await page.evaluate((to) => {
      location.hash = `view=${to}`;
    }, view);
    await page.waitForSelector(`main > section.${view}`);
    await page.waitForTimeout(150);
    await look(view);
    const box = (await page.locator("main").boundingBox())!;
    for (const y of [30, 60, 90, 120, 150]) {
      await page.mouse.move(box.x + 300, box.y + y);
      await look(view);
    }
  }
  for (const by of ["By file", "By call", "Waits"]) {
    await page.evaluate(() => {
      location.hash = "view=syscalls";
    });
    await page.click(`.syscalls button:has-text("${by}")`);
    await look(by);
  }
  const turned = "\\x1b[31mturned\\u{202e}dniheb\\u{2066}\\u{2069}";
  for (const view of ["findings", "flame", "calls"]) assert.ok(seen[view]!.includes(turned), view);
  assert.ok(
    seen["By file"]!.includes("\\x1b[2Jreport\\u{202e}txt.exe\\n\\u{200b}second line"),
    "a file's name",
  );
  assert.ok(seen.processes!.includes("two\\nlines \\x1b[31mred photo\\u{202e}gpj.exe"), "arguments");
  assert.ok(
    seen.about!.includes("$'two\\012lines' $'\\033[31mred' $'photo\\342\\200\\256gpj.exe'"),
    "a command line",
  );
  assert.ok(seen.source!.includes("/*\\u{202e} } \\u{2066}if (admin)\\u{2069}"), "source");
  assert.ok(seen.source!.includes("<svg onload=alert(3)>\\x1b\\u{202e}.c"), "a source file's name");
  assert.deepEqual(troubles, []);
  await close();
});

test("in the file itself nothing of it stands in clear", () => {
  const html = readFileSync(`${dir}/hostile.html`, "utf8");
  assert.ok(!html.includes("alert(") && !html.includes("owned"));
  const scripts = html.match(/<script/g)!;
  assert.equal(scripts.length, 2, "the data and the one script");
  assert.equal(html.match(/<\/script/g)!.length, 2);
});

test("the policy lets nothing be loaded and no other script run", async () => {
  const { page, close } = await open("gnutls.html");
  const blocked = await page.evaluate(async () => {
    const violated: string[] = [];
    document.addEventListener("securitypolicyviolation", (event) => violated.push(event.effectiveDirective));
    const image = document.createElement("img");
    image.src = "http://127.0.0.1:9/x.png";
    document.body.append(image);
    const script = document.createElement("script");
    script.textContent = "window.injected = true";
    document.body.append(script);
    const style = document.createElement("style");
    style.textContent = "body { display: none }";
    document.body.append(style);
    await fetch("http://127.0.0.1:9/").catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { violated, injected: "injected" in window, display: getComputedStyle(document.body).display };
  });
  assert.equal(blocked.injected, false);
  assert.notEqual(blocked.display, "none");
  for (const directive of ["img-src", "script-src-elem", "style-src-elem", "connect-src"]) {
    assert.ok(blocked.violated.includes(directive), `${directive} of ${blocked.violated}`);
  }
  await close();
});

test("a page whose data was cut off says so", async () => {
  const html = readFileSync(`${dir}/gnutls.html`, "utf8");
  const { page, close } = await open("gnutls.html");
  const cut = html.replace(/(<script type="application\/x-slowpath">.{1000})[^<]*/, "$1");
  await page.setContent(cut);
  await until("the sentence", async () =>
    /cannot be read/.test((await page.locator(".failed").textContent()) ?? ""),
  );
  await close();
});

test("view serves the page to who knows its address, and to nobody else", async () => {
  const server = spawn(
    process.env.SLOWPATH!,
    ["view", "--dir", "recordings", reports.gnutls!.recording.id, "--no-open"],
    {
      cwd: dir,
    },
  );
  try {
    let said = "";
    server.stdout.on("data", (data) => {
      said += data;
    });
    await until("its address", async () => /http:\S+/.test(said));
    const address = /http:\S+/.exec(said)![0];
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/$/);
    assert.equal((await fetch(new URL("/", address))).status, 404);
    const { page, troubles, requests, close } = await open(address);
    assert.equal(await text(page, ".card h2"), headline(reports.gnutls!.findings[0]!));
    assert.deepEqual(troubles, []);
    assert.deepEqual(requests, []);
    await close();
  } finally {
    server.kill();
  }
});
