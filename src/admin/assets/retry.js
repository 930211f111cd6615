// @ts-check
/// <reference lib="dom" />

import { byId } from "./dom.js";

/**
 * Tries again what the store did not answer, and says when: the page is reloaded once it would be
 * another one. Where no scripts run, the page is reloaded by itself.
 */

const place = byId("retry");
if (place !== null) countDown(place, Number(place.dataset.seconds));

/**
 * @param {HTMLElement} place
 * @param {number} seconds
 */
function countDown(place, seconds) {
  let left = seconds;
  const step = async () => {
    if (document.hidden) return; // nobody looks
    left--;
    if (left > 0) place.textContent = `The page tries again in ${left} s.`;
    else if (left === 0) {
      place.textContent = "The page is trying again.";
      if (await isBack()) location.reload();
      left = seconds + 1;
    }
  };
  setInterval(() => void step(), 1_000);
}

/** True if the page would be another one now. */
async function isBack() {
  try {
    const { status } = await fetch(location.href, {
      headers: { accept: "text/html" },
      cache: "no-store",
    });
    return status !== 503;
  } catch {
    return false; // the server does not answer either
  }
}
