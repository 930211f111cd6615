/**
 * Plays what an admin asks on a pool's page, beside the pools: a thread of its own keeps the
 * simulation away from their loop. It gets one question, answers it and is ended.
 *
 * @module
 */

/// <reference lib="deno.worker" />

import { ConfigError, messageOf } from "../contract/errors.ts";
import type { ConfigInput } from "../config/input.ts";
import { ChangeError, whatIf } from "./mod.ts";
import type { AskedQuestion, WorkerAnswer } from "./what_if.ts";

self.onmessage = async ({ data }: MessageEvent<AskedQuestion>) => {
  const { config, question } = data;
  let answer: WorkerAnswer;
  try {
    answer = { answer: await whatIf(config as ConfigInput, question) }; // checked when it is resolved
  } catch (error) {
    const isAsked = error instanceof ChangeError || error instanceof ConfigError;
    answer = { fault: messageOf(error), isAsked };
  }
  self.postMessage(answer);
};
