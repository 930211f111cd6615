// @ts-check
/// <reference lib="dom" />

/** @type {Intl.DateTimeFormatOptions} */
const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };

/**
 * Writes times in the zone of the reader: the server knows none and writes UTC. Times of today go
 * without their date.
 *
 * @param {ParentNode} within
 */
export function localize(within) {
  for (const time of within.querySelectorAll("time[datetime]")) {
    const text = localTime(Date.parse(time.getAttribute("datetime") ?? ""));
    if (time.textContent !== text) time.textContent = text;
  }
}

/**
 * A time as its reader writes it.
 *
 * @param {number} atMs
 */
export function localTime(atMs) {
  const at = new Date(atMs);
  const isToday = at.toDateString() === new Date().toDateString();
  if (isToday) return at.toLocaleTimeString([], CLOCK);
  return at.toLocaleString([], { ...CLOCK, day: "numeric", month: "short" });
}
