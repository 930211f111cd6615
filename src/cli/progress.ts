/**
 * A progress bar on a terminal.
 *
 * @module
 */

import type { Io } from "./io.ts";
import { inLine } from "./print.ts";

/** What is done sooner shows no bar, ms. */
const QUIET_MS = 500;

const WIDTH = 30;

/** A bar on standard error. */
export interface ProgressBar {
  /** Shows how far it is, 0 to 1. */
  readonly show: (share: number) => void;
  /** Shows how far it is where nobody knows how much there is. */
  readonly count: (text: string) => void;
  /** Takes the bar away. */
  clear(): void;
}

/** Makes a bar that shows once its work has taken a while, and only on a terminal. */
export function progressBar(io: Io): ProgressBar {
  const beganMs = performance.now();
  let shown = "";
  const put = (given: string): void => {
    const text = inLine(given);
    if (!io.terminal || performance.now() - beganMs < QUIET_MS) return;
    if (text !== shown) io.err(`\r${text.padEnd(shown.length)}`);
    shown = text;
  };
  return {
    show(share) {
      const full = Math.floor(share * WIDTH);
      put(`${"#".repeat(full)}${"-".repeat(WIDTH - full)} ${Math.floor(share * 100)} %`);
    },
    count: put,
    clear() {
      if (shown !== "") io.err(`\r${" ".repeat(shown.length)}\r`);
      shown = "";
    },
  };
}
