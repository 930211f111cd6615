/**
 * The payload of a job that an end leads to: the result of a done job, the record of a dead one.
 *
 * @module
 */

import type { HandOn } from "../contract/store.ts";
import { LARGEST_RESULT } from "./payload.ts";

/** What is handed on of an end, without stacks. Of a record that is too large the history is left out, then the payload. */
export function handedPayload({ record, payloadError }: HandOn): unknown {
  if (record.state === "done") return record.result ?? null;
  const history = record.history?.map(({ stack: _stack, ...attempt }) => attempt); // payloads are for viewers too
  const own = history === undefined ? record : { ...record, history };
  const whole = payloadError === undefined ? own : { ...own, payload: null, payloadError };
  if (sizeOf(whole) <= LARGEST_RESULT) return plain(whole);
  const { history: _history, ...short } = whole;
  if (sizeOf(short) <= LARGEST_RESULT) return plain(short);
  const bytes = sizeOf(record.payload);
  const why = `It has ${bytes} bytes as JSON: look it up by the id`;
  return plain({ ...short, payload: null, payloadError: why });
}

/** As JSON has it: what is not known is left out. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function sizeOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value) ?? "").length;
}
