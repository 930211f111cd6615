/**
 * A progress bar on a terminal.
 *
 * @module
 */

import type { Io } from "./io.ts";

/** What is done sooner shows no bar, ms. */
const QUIET_MS = 500;

const WIDTH = 30;

/** A bar on standard error. */
export interface ProgressBar {
  /** Shows how far it is, 0 to 1. */
  readonly show: (share: number) => void;
  /** Takes the bar away. */
  clear(): void;
}

/** Makes a bar that shows once what it stands for has taken a while, and only on a terminal. */
export function progressBar(io: Io): ProgressBar {
  const beganMs = performance.now();
  let shown = "";
  return {
    show(share) {
      if (!io.terminal || performance.now() - beganMs < QUIET_MS) return;
      const full = Math.floor(share * WIDTH);
      const bar = `${"#".repeat(full)}${"-".repeat(WIDTH - full)} ${Math.floor(share * 100)} %`;
      if (bar !== shown) io.err(`\r${bar}`);
      shown = bar;
    },
    clear() {
      if (shown !== "") io.err(`\r${" ".repeat(shown.length)}\r`);
      shown = "";
    },
  };
}
