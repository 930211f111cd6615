/**
 * Checks jobs that came over the wire, with a pointer for each fault.
 *
 * @module
 */

import { display, isRecord, toPointer } from "../../config/faults.ts";
import { delayTooLong, LONGEST_DELAY_MS, type NewJob } from "../../contract/job.ts";
import { type Routable, Routes } from "../../config/routes.ts";
import type { PoolSettings } from "../../config/settings.ts";
import { isoTime, NO_ISO_TIME } from "../../base/iso_time.ts";
import { suggestion } from "../../base/suggest.ts";
import { LONGEST_KEY } from "./shape.ts";
import type { ProblemError } from "../http/wire.ts";

const KEYS = ["lane", "type", "payload", "key", "delayMs", "runAt", "dedupeKey", "ttlMs"] as const;

/** What a pool takes. */
export interface Takes {
  /** Names of its lanes. */
  readonly lanes: ReadonlySet<string>;
  /** Job types. Just "" for a pool with one handler. */
  readonly types: ReadonlySet<string>;
  /** Lanes of jobs that name none. */
  readonly routes: Routes;
}

/** What a pool takes, read once: this is asked for every job. */
export function takesOf(settings: PoolSettings): Takes {
  return {
    lanes: new Set(settings.lanes.map((lane) => lane.name)),
    types: new Set(settings.handlers.keys()),
    routes: new Routes(settings.routes),
  };
}

/**
 * True if `value` has the shape of a job for the pool.
 *
 * @param value What was sent.
 * @param takes What the pool takes.
 * @param faults Gets one entry a fault.
 */
export function isSubmitted(
  value: unknown,
  takes: Takes,
  faults: ProblemError[],
): value is NewJob {
  if (!isRecord(value)) {
    faults.push({
      pointer: "",
      detail: `Expected a job as an object but received ${display(value)}`,
    });
    return false;
  }
  const before = faults.length;
  const { lane, type } = value;
  for (const key in value) {
    switch (key) {
      case "payload":
      case "lane":
      case "type":
        break;
      case "delayMs":
        checkDuration(key, value[key], 0, faults);
        break;
      case "runAt":
        checkTime(value, faults);
        break;
      case "ttlMs":
        checkDuration(key, value[key], 1, faults);
        break;
      case "key":
      case "dedupeKey":
        checkKey(key, value[key], faults);
        break;
      default:
        faults.push({
          pointer: toPointer([key]),
          detail: `No field is named ${display(key)}${suggestion(key, KEYS)}`,
        });
    }
  }
  const isKnown = type === undefined ? takes.types.has("") : isType(type, takes);
  if (lane === undefined && !takes.routes.isEmpty) {
    // Of a job with a fault it is not known which would fit.
    if (isKnown && faults.length === before) checkRoute(value, takes, faults);
  } else if (typeof lane !== "string" || !takes.lanes.has(lane)) {
    faults.push(laneFault(lane, takes));
  }
  if (!isKnown) faults.push(typeFault(type, takes));
  if (value["payload"] === undefined) {
    faults.push({
      pointer: "/payload",
      detail: "The payload is missing: send null if there is none",
    });
  }
  return faults.length === before;
}

/** The fault of a lane that does not exist. */
export function laneFault(lane: unknown, takes: Takes): ProblemError {
  if (typeof lane === "string") {
    const detail = `No lane is named ${display(lane)}${suggestion(lane, takes.lanes)}`;
    return { pointer: "/lane", detail };
  }
  const given = lane === undefined ? "" : ` but received ${display(lane)}`;
  return {
    pointer: "/lane",
    detail: `Expected the name of a lane${given}${suggestion("", takes.lanes)}`,
  };
}

/** A job that names no lane: one of the routes has to fit. Its type and key were checked. */
function checkRoute(job: Routable, { lanes, routes }: Takes, faults: ProblemError[]): void {
  if (routes.laneOf(job) !== undefined) return;
  faults.push({ pointer: "/lane", detail: routes.faultOf(job, lanes) });
}

function isType(type: unknown, takes: Takes): boolean {
  return typeof type === "string" && takes.types.has(type);
}

function typeFault(type: unknown, takes: Takes): ProblemError {
  const pointer = "/type";
  if (takes.types.has("")) {
    return { pointer, detail: "The pool has one handler: send its jobs without a type" };
  }
  if (typeof type === "string") {
    const detail = `No handler takes jobs of type ${display(type)}${suggestion(type, takes.types)}`;
    return { pointer, detail };
  }
  const given = type === undefined ? "" : ` but received ${display(type)}`;
  return { pointer, detail: `Expected the type of a job${given}${suggestion("", takes.types)}` };
}

function checkDuration(key: string, value: unknown, min: number, faults: ProblemError[]): void {
  const isLong = typeof value === "number" && value > LONGEST_DELAY_MS;
  if (!isLong && Number.isInteger(value) && Number(value) >= min) return;
  const detail = isLong
    ? delayTooLong(key, display(value))
    : `Expected ${key} to be a whole number >= ${min} but received ${display(value)}`;
  faults.push({ pointer: `/${key}`, detail });
}

function checkTime(
  { runAt, delayMs }: Readonly<Record<string, unknown>>,
  faults: ProblemError[],
): void {
  if (runAt === undefined) return;
  const atMs = isoTime(runAt);
  const detail = delayMs !== undefined
    ? "Expected either delayMs or runAt: received both"
    : atMs === undefined
    ? `Expected runAt to be ${NO_ISO_TIME}, but received ${display(runAt)}`
    : undefined;
  if (detail !== undefined) faults.push({ pointer: "/runAt", detail });
}

function checkKey(key: string, value: unknown, faults: ProblemError[]): void {
  if (typeof value === "string" && value !== "" && value.length <= LONGEST_KEY) return;
  const given = typeof value === "string" && value.length > LONGEST_KEY
    ? `${value.length} characters`
    : display(value);
  faults.push({
    pointer: `/${key}`,
    detail: `Expected ${key} to be a text of 1 to ${LONGEST_KEY} characters but received ${given}`,
  });
}
