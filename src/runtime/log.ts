/**
 * Where log lines go: readable on a terminal, JSON for machines, or nowhere.
 *
 * @module
 */

import type { Logger } from "../contract/job.ts";
import { visible } from "../base/escape.ts";

/** How much a line matters, least first. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** What a line says besides its message. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Options of a logger. */
export interface LogOptions {
  /** Lines below it are left out. @default {"info"} */
  readonly level?: LogLevel;
  /** Takes each line, without a line break. @default {writes to standard error} */
  readonly write?: (line: string) => void;
  /** Time of a line, ms since epoch. @default {the system's} */
  readonly nowMs?: () => number;
  /** Whether `prettyLogger` colors levels. @default {false} */
  readonly color?: boolean;
}

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** ANSI colors of levels: gray, none, yellow, red. */
const COLORS: Readonly<Record<LogLevel, string>> = {
  debug: "\x1b[90m",
  info: "",
  warn: "\x1b[33m",
  error: "\x1b[31m",
};

const encoder = new TextEncoder();

/** Writes lines such as `12:00:01.250 warn The store cannot be read pool=mail`. */
export function prettyLogger(options: LogOptions = {}): Logger {
  return loggerOf(options, (level, message, fields, atMs) => {
    const time = new Date(atMs).toISOString().slice(11, 23);
    const shown = fieldsText(fields);
    const color = options.color === true ? COLORS[level] : "";
    const name = color === "" ? level : `${color}${level}\x1b[0m`;
    return `${time} ${name} ${visible(message)}${visible(shown)}`;
  });
}

/** Writes lines such as `{"at":"…","level":"warn","message":"…","pool":"mail"}`. */
export function jsonLogger(options: LogOptions = {}): Logger {
  return loggerOf(options, (level, message, fields, atMs) => {
    const at = new Date(atMs).toISOString();
    return visible(JSON.stringify({ ...safe(fields), at, level, message }));
  });
}

/** Writes nothing. */
export function silentLogger(): Logger {
  return { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
}

/** Adds the same fields to every line: a pool's name, a job's id. */
export function withFields(log: Logger, fields: LogFields): Logger {
  return {
    debug: (message, more) => log.debug(message, { ...fields, ...more }),
    info: (message, more) => log.info(message, { ...fields, ...more }),
    warn: (message, more) => log.warn(message, { ...fields, ...more }),
    error: (message, more) => log.error(message, { ...fields, ...more }),
  };
}

/** A message with its fields, as one line. */
export function textOfLine(message: string, fields: LogFields = {}): string {
  return `${message}${fieldsText(fields)}`;
}

function fieldsText(fields: LogFields): string {
  return Object.entries(fields).map(([key, value]) => ` ${key}=${bare(value)}`).join("");
}

type Format = (level: LogLevel, message: string, fields: LogFields, atMs: number) => string;

function loggerOf(options: LogOptions, format: Format): Logger {
  const { level: least = "info", write = writeToStderr, nowMs = Date.now } = options;
  const at = (level: LogLevel) => (message: string, fields: LogFields = {}): void => {
    if (LEVELS.indexOf(level) >= LEVELS.indexOf(least)) {
      write(format(level, message, fields, nowMs()));
    }
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** One word as it is, anything else as JSON. */
function bare(value: unknown): string {
  return typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : textOf(value);
}

/** The same fields, as JSON can hold them. */
function safe(fields: LogFields): LogFields {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [key, JSON.parse(textOf(value))]));
}

/** JSON of anything: a line with a cycle or a bigint in it must not throw where it is logged. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value, plain) ?? JSON.stringify(String(value));
  } catch {
    return JSON.stringify(String(value)); // a cycle: what it is must do
  }
}

function plain(_key: string, value: unknown): unknown {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return typeof value === "bigint" ? String(value) : value;
}

function writeToStderr(line: string): void {
  let rest = encoder.encode(`${line}\n`);
  while (rest.length > 0) rest = rest.subarray(Deno.stderr.writeSync(rest));
}
