/// <reference lib="dom" />

/**
 * Tests in a real Chromium: one browser, a page of its own for each test. What a page logs as
 * an error, throws, or does against its own content security policy fails the test.
 *
 * @module
 */

import type { Browser, BrowserContextOptions, Page } from "playwright-core";

/** A page under test. */
export interface Visit {
  /** The page. Its path is relative to where the system answers. */
  readonly page: Page;
  /** What was wrong on it so far. */
  readonly faults: readonly string[];
  /** Lets faults pass that the test brings about itself. */
  allow(fault: RegExp): void;
}

/** How a page is looked at. */
export type Look = Pick<BrowserContextOptions, "colorScheme" | "viewport" | "javaScriptEnabled">;

/** Longest that a test waits for something to happen on a page, ms. */
const PATIENCE_MS = 20_000;

/** Longest that Chromium may take to start on a busy machine, ms. */
const START_MS = 60_000;

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"] as const;

const EXECUTABLE = findChromium();

let browser: Browser | undefined;

if (EXECUTABLE === undefined) {
  const line = "Tests in a browser are left out: there is no Chromium (apt-get install chromium, " +
    "or name one in CHROMIUM)\n";
  Deno.stderr.writeSync(new TextEncoder().encode(line));
} else {
  Deno.test.beforeAll(async () => {
    browser = await launch(EXECUTABLE);
  });
  Deno.test.afterAll(async () => {
    await browser?.close();
  });
}

/** Registers a test in a browser; it is ignored where there is none. */
export function browserTest(name: string, test: () => Promise<void>): void {
  Deno.test({ name, fn: test, ignore: EXECUTABLE === undefined });
}

/**
 * Opens a page, lets `use` work with it, and closes it.
 *
 * @throws {Error} If anything was wrong on the page.
 */
export async function visit(
  url: string,
  use: (visit: Visit) => Promise<void>,
  look: Look = {},
): Promise<void> {
  if (browser === undefined) throw new Error("The browser has not been started");
  const context = await browser.newContext({ baseURL: url, reducedMotion: "reduce", ...look });
  try {
    context.setDefaultTimeout(PATIENCE_MS);
    const faults: string[] = [];
    const allowed: RegExp[] = [];
    const page = await context.newPage();
    await listen(page, faults);
    await use({ page, faults, allow: (fault) => void allowed.push(fault) });
    await page.evaluate(() => true); // what the page has said until now has arrived
    const left = faults.filter((fault) => !allowed.some((pattern) => pattern.test(fault)));
    if (left.length > 0) throw new Error(`Faults on ${page.url()}:\n${left.join("\n")}`);
  } finally {
    await context.close();
  }
}

async function listen(page: Page, faults: string[]): Promise<void> {
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      faults.push(`${message.type()}: ${message.text()} (${message.location().url})`);
    }
  });
  page.on("pageerror", (error) => void faults.push(`thrown: ${error.stack ?? error.message}`));
  page.on("response", (response) => {
    if (response.status() >= 500) faults.push(`${response.status()} ${response.url()}`);
  });
  // Chromium logs violations too; this says which directive and where, also of those it keeps quiet about.
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      const { violatedDirective, blockedURI, sample } = event;
      reportError(new Error(`CSP ${violatedDirective}: ${blockedURI} ${sample}`));
    });
  });
}

async function launch(executablePath: string): Promise<Browser> {
  // While it is loaded, playwright-core looks for WSL in places that only --allow-all may read. With
  // this set it does not look.
  Deno.env.set("__IS_WSL_TEST__", "1");
  const { chromium } = await import("playwright-core");
  const launching = chromium.launch({
    executablePath,
    timeout: 0, // its timer would run on, and end in the midst of some test
    // Root may not use the sandbox; containers give little shared memory.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`${executablePath} did not start within ${START_MS / 1_000} s`)),
    START_MS,
  );
  try {
    return await Promise.race([launching, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function findChromium(): string | undefined {
  const given = Deno.env.get("CHROMIUM");
  const folders = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  const places = folders.flatMap((folder) => NAMES.map((name) => `${folder}/${name}`));
  return [...given ? [given] : [], ...places].find(isFile);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false; // not there, or not to be seen
  }
}
