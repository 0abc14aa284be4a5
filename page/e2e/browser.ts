// A page in headless Chromium, watched: whatever it logs, throws or asks the network for is kept.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { share } from "../src/shared/units";

export const dir = process.env.SLOWPATH_E2E!;

interface Finding {
  cause: string;
  function: string;
  share: number;
  title: string;
  confidence: "certain" | "likely" | "hint";
}

interface Findings {
  recording: {
    id: string;
    wall_ns: number;
    user_ns: number;
    sys_ns: number;
    cpu_ns: number;
    samples: number;
    complete_stacks_share: number;
  };
  findings: Finding[];
  hot: { function: string; module: string; self_ns: number; total_ns: number }[];
}

/** What the JSON report says of each recording. */
export const reports: Record<string, Findings> = JSON.parse(readFileSync(`${dir}/findings.json`, "utf8"));

/** What stands above a finding: how sure it is differs from one recording of a program to the next. */
export function headline(finding: Finding): string {
  return { certain: "", likely: "likely: ", hint: "hint: " }[finding.confidence] + finding.title;
}

/** A share of the run's CPU time as the terminal report prints it. */
export function reported(report: Findings, ns: number): string {
  return share(ns / report.recording.cpu_ns);
}

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
let browser: Browser | undefined;

async function started(): Promise<Browser> {
  const path = PATHS.find(existsSync);
  assert.ok(path, "chromium is missing: scripts/setup test installs it");
  browser ??= await chromium.launch({ executablePath: path, args: ["--no-sandbox"] });
  return browser;
}

export async function stop(): Promise<void> {
  await browser?.close();
  browser = undefined;
}

export interface Watched {
  page: Page;
  /** What was logged or thrown, dialogs included. */
  troubles: string[];
  /** Every request but the page itself. */
  requests: string[];
  close(): Promise<void>;
}

/** Opens a page of the folder, or an address. */
export async function open(
  name: string,
  fragment = "",
  options: {
    theme?: "light" | "dark";
    first?: () => void;
    viewport?: { width: number; height: number };
  } = {},
): Promise<Watched> {
  const context = await (await started()).newContext({
    viewport: options.viewport ?? { width: 1300, height: 850 },
    colorScheme: options.theme ?? "light",
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  if (options.first) await page.addInitScript(options.first);
  const troubles: string[] = [];
  const requests: string[] = [];
  const address = name.startsWith("http") ? name : `file://${dir}/${name}`;
  page.on("console", (message) => troubles.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("dialog", (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== address) requests.push(request.url());
  });
  await page.goto(`${address}#${fragment}`);
  await page.waitForSelector("nav.tabs");
  return { page, troubles, requests, close: () => context.close() };
}

/** Waits until a text is there and returns it. */
export async function text(page: Page, selector: string): Promise<string> {
  return ((await page.locator(selector).first().textContent()) ?? "").trim();
}

/** Waits until something holds. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 8000;
  while (Date.now() < end) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`not within 8 s: ${what}`);
}
