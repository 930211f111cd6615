// @ts-check
/// <reference lib="dom" />

import { base, byId, element } from "./dom.js";
import { localize, localTime } from "./local_time.js";
import { morph } from "./morph.js";

/**
 * Keeps a page current: it is asked for again once a second, and at once when something happens.
 * The event stream tells of that, and of the server being gone. A hidden tab asks for nothing.
 */

/** Time between looks, ms. */
const EVERY_MS = 1_000;

/** Time between tries while the server does not answer, ms: then twice as long, up to the last. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15_000;

/** Time between tries to open the stream, ms. */
const LISTEN_MS = 5_000;

/** Without any sign of the stream for so long it is opened again, ms. It beats every 15 s. */
const SILENT_MS = 40_000;

/** What changes the state of a pool, not what single jobs do: those are too many. */
const KINDS = [
  "decided",
  "paused",
  "resumed",
  "override-set",
  "override-ended",
  "draining",
  "stopped",
  "reloaded",
  "plugin-failed",
  "plugin-recovered",
  "cooldown-began",
  "cooldown-ended",
  "store-failed",
  "store-failing",
  "store-recovered",
  "worker-stuck",
];

/** @typedef {import("../http/wire.ts").EventJson} EventJson */

/** @type {Set<(event: EventJson) => void>} */
const listeners = new Set();
/** @type {Set<(page: Document) => void>} */
const readers = new Set();
/** @type {Set<(page: Document) => void>} */
const changers = new Set();
/** @type {EventSource | undefined} */
let stream;
let leaving = new AbortController();
let held = false;
let ended = false;
let asking = false;
let askAgain = false;
let failures = 0;
let fault = "";
let seenAtMs = Date.now();
let beatAtMs = Date.now();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * Calls a function with every event that the page hears of.
 *
 * @param {(event: EventJson) => void} listener
 */
export function onEvent(listener) {
  listeners.add(listener);
}

/**
 * Calls a function after each look, with the page as the server has it now.
 *
 * @param {(page: Document) => void} reader
 */
export function onLook(reader) {
  readers.add(reader);
}

/**
 * Calls a function before each look is shown, with the page as the server has it now: it may change that.
 *
 * @param {(page: Document) => void} changer
 */
export function beforeTake(changer) {
  changers.add(changer);
}

/**
 * Aborts when the page is left: an answer that comes then may be to someone who has logged out.
 *
 * @returns {AbortSignal}
 */
export function whileHere() {
  return leaving.signal;
}

/** Looks now, also where the page is held still: its reader has done something. */
export function refresh() {
  clearTimeout(timer);
  timer = undefined;
  void look(true);
}

/** True for a page that is to be kept current. An action may make it one, an end the contrary. */
function isLive() {
  return document.body.dataset.live !== undefined;
}

/** Begins. Once a page. */
export function start() {
  document.addEventListener("visibilitychange", () => document.hidden ? rest() : wake());
  globalThis.addEventListener("pagehide", leave);
  document.addEventListener("submit", ({ defaultPrevented }) => defaultPrevented || leave());
  globalThis.addEventListener(
    "pageshow",
    (event) => "persisted" in event && event.persisted && wake(),
  );
  const button = byId("hold");
  button?.addEventListener("click", () => {
    held = !held;
    button.setAttribute("aria-pressed", String(held));
    held ? rest() : wake();
    showState();
  });
  if (!document.hidden) wake();
}

function wake() {
  if (held || !isLive()) return;
  if (leaving.signal.aborted) leaving = new AbortController();
  listen();
  soon(0);
}

function rest() {
  clearTimeout(timer);
  timer = undefined;
  stream?.close();
  stream = undefined;
}

function leave() {
  leaving.abort();
  rest();
}

function listen() {
  stream?.close();
  const query = KINDS.map((kind) => `kind=${kind}`).join("&");
  const source = new EventSource(`${base}/api/events?${query}`);
  stream = source;
  beatAtMs = Date.now();
  source.addEventListener("message", ({ data }) => {
    beatAtMs = Date.now();
    /** @type {EventJson} */
    const event = JSON.parse(data);
    for (const listener of listeners) listener(event);
    soon(100);
  });
  source.addEventListener("beat", () => {
    beatAtMs = Date.now();
  });
  source.addEventListener("gap", () => soon(0));
  source.addEventListener("end", () => {
    source.close(); // it would come back at once; looking tells when the server is there again
    if (stream === source) stream = undefined;
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED && stream === source) stream = undefined;
  });
}

/** @param {number} ms */
function soon(ms) {
  if (held || document.hidden || leaving.signal.aborted) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    timer = undefined;
    void look(false);
  }, ms);
}

/** @param {boolean} isWanted True: the reader waits for it. */
async function look(isWanted) {
  if (asking) {
    askAgain ||= isWanted; // the look under way may have begun before what the reader did
    return;
  }
  asking = true;
  fault = "The server does not answer";
  try {
    const response = await fetch(location.href, {
      headers: { accept: "text/html" },
      cache: "no-store",
      signal: AbortSignal.timeout(10_000),
    });
    if (response.redirected && new URL(response.url).pathname === `${base}/login`) {
      return loggedOut();
    }
    // What is gone has a page too, which says so.
    const isPage = response.headers.get("content-type")?.startsWith("text/html") === true;
    if (response.status === 503) fault = "The store does not answer";
    if (!isPage || response.status >= 500) throw new Error(`The answer was ${response.status}`);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (!held || isWanted) take(page);
    ended = false;
    failures = 0;
    seenAtMs = Date.now();
    if (!isLive()) rest();
    else if (!held && mustListen()) listen();
  } catch {
    if (leaving.signal.aborted) return;
    failures++; // the banner says so, and it is tried again
    if (failures > 1) listenLess();
  } finally {
    asking = false;
    showState();
    if (askAgain) {
      askAgain = false;
      void look(true);
    }
    const pauseMs = failures === 0
      ? EVERY_MS
      : Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** (failures - 1));
    if (isLive() && (timer === undefined || failures > 0)) soon(pauseMs);
  }
}

/** Not at each look: where there are too many streams, one a second more would not help. */
function mustListen() {
  const sinceMs = Date.now() - beatAtMs;
  return stream === undefined ? sinceMs > LISTEN_MS : sinceMs > SILENT_MS;
}

/** A stream that cannot be opened is not tried by the browser beside us. */
function listenLess() {
  stream?.close();
  stream = undefined;
}

/** @param {Document} page */
function take(page) {
  const wanted = page.getElementById("main");
  const main = byId("main");
  if (wanted === null || main === null) return;
  localize(wanted);
  for (const changer of changers) changer(page);
  morph(main, wanted);
  const [places, wantedPlaces] = [byId("places"), page.getElementById("places")];
  if (places !== null && wantedPlaces !== null) morph(places, wantedPlaces);
  document.title = page.title;
  const { live } = page.body.dataset;
  if (live === undefined) delete document.body.dataset.live;
  else document.body.dataset.live = live;
  for (const reader of readers) reader(page);
}

function loggedOut() {
  ended = true;
  held = true;
  failures = 0; // the server has answered
  rest();
  const next = encodeURIComponent(location.pathname + location.search);
  const link = element("a", { href: `${base}/login?next=${next}` }, "Log in again");
  byId("banner")?.replaceChildren("The session has ended: this page is out of date. ", link);
}

function showState() {
  const state = byId("state");
  const hold = byId("hold");
  if (hold !== null) hold.hidden = !isLive();
  if (state !== null) {
    state.hidden = !isLive();
    const isLost = failures > 0 || (ended && held);
    const text = failures > 0
      ? "No connection"
      : isLost
      ? "Logged out"
      : held
      ? "Updates paused"
      : "Live";
    if (state.textContent !== text) state.textContent = text;
    state.dataset.state = isLost ? "lost" : held ? "held" : "live";
  }
  const banner = byId("banner");
  if (banner === null || (held && failures === 0)) return;
  if (failures === 0) return banner.replaceChildren();
  if (banner.childElementCount > 0) return; // it is read aloud once
  const at = localTime(seenAtMs);
  const now = element("button", { type: "button" }, "Try now");
  now.addEventListener("click", refresh);
  banner.replaceChildren(`${fault}: what you see is from ${at}. `, now);
}
