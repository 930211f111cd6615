/**
 * Jobs that come by themselves: one at each time of a schedule, however many processes run.
 *
 * @module
 */

import { Alarm } from "./alarm.ts";
import { storeCall } from "./store_call.ts";
import type { CronTimes } from "../base/cron.ts";
import { timesOf } from "../base/interval.ts";
import { messageOf } from "../contract/errors.ts";
import type { PoolCore } from "./pool_core.ts";
import type { ScheduleSettings } from "../config/settings.ts";
import type { ScheduleView } from "./handles.ts";
import type { Added, JobEntry, StateEntry, Store } from "../contract/store.ts";
import { type Mark, markIn, scheduleId } from "./schedule_mark.ts";

/** A time that is missed by more, ms, is made up for only as `catchUp` says. */
const LATE_MS = 300_000;

/** Most missed times of one schedule that are made up for. */
const MOST_MISSED = 100;

/** First and longest wait after a store that failed, ms. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** A mark that is further ahead, ms, was made by a clock that was wrong. */
const AHEAD_MS = 60_000;

/** Such a mark is corrected once nobody has moved it for so long, ms: or a process with another clock lives. */
const UNMOVED_MS = 60_000;

/** What schedules need of their pool. */
export interface SchedulesContext extends PoolCore {
  /** Where the latest time of each schedule is kept. */
  readonly store: Store;
  /** Stores a job, past admission. */
  readonly add: (entry: JobEntry) => Promise<Added>;
  /** Chance for jitter. */
  readonly random: () => number;
}

/** What can be done with a schedule from outside. */
export type ScheduleChange = "run" | "pause" | "resume";

interface Schedule {
  readonly id: string;
  readonly settings: ScheduleSettings;
  readonly times: CronTimes;
  readonly key: string;
  /** What the store was last seen to know of it. `undefined`: not read yet. */
  mark: Mark | undefined;
  nextAtMs: number | undefined;
  /** Its job that was stored just now: the store is to know its id. */
  added: string | undefined;
  /** The version of a mark that is ahead, or may be, and since when it is known, in the clock's time. */
  ahead: { readonly version: string | undefined; readonly sinceMs: number } | undefined;
}

/** Owns the schedules of one pool. */
export class Schedules {
  readonly #context: SchedulesContext;
  readonly #alarm: Alarm;
  #schedules: readonly Schedule[] = [];
  #pauseMs = FIRST_PAUSE_MS;
  #working: Promise<void> | undefined;
  #again = false;
  #open = false;

  /** Begins nothing before `open`. */
  constructor(context: SchedulesContext) {
    this.#context = context;
    this.#alarm = new Alarm(context.clock, () => this.#look());
    this.#read();
  }

  /** The schedules, in config order. */
  get views(): readonly ScheduleView[] {
    return this.#schedules.map(viewOf);
  }

  /** Reads what the store knows of them: other processes have a say too. */
  async read(): Promise<readonly ScheduleView[]> {
    const { store, clock } = this.#context;
    for (const schedule of this.#schedules) {
      const entry = await storeCall(clock, () => store.get(schedule.key));
      schedule.mark = markIn(entry) ?? schedule.mark;
    }
    return this.views;
  }

  /** Adds a job of it now, or lets its times pass without one, or not any more. `undefined`: none has the id. */
  async change(id: string, change: ScheduleChange): Promise<ScheduleView | undefined> {
    const schedule = this.#schedules.find((one) => one.id === id);
    if (schedule === undefined) return undefined;
    if (change === "run") {
      const { clock, add } = this.#context;
      const { id: job } = await storeCall(clock, () => add(this.#jobOf(schedule)));
      await this.#mark(schedule, (mark) => ({ ...mark, job }));
    } else if (change === "pause") {
      await this.#mark(schedule, (mark) => ({ ...mark, paused: true }));
    } else {
      const nowMs = this.#wallMs();
      await this.#mark(schedule, ({ paused, ...mark }) => paused ? { ...mark, atMs: nowMs } : mark);
    }
    return viewOf(schedule);
  }

  /** Looks what is due, and goes on. */
  open(): void {
    this.#open = true;
    this.#look();
  }

  /** Resolves once the jobs that are due by now are stored. */
  async looked(): Promise<void> {
    if (this.#open) this.#look();
    await this.#working;
  }

  /** The wall clock was set, by this many ms: what is due is another, and marks may be of the time before. */
  stepped(byMs: number): void {
    for (const schedule of this.#schedules) {
      if (byMs < 0) schedule.ahead = { version: undefined, sinceMs: -Infinity };
      schedule.mark = undefined;
    }
    this.#alarm.cancel();
    if (this.#open) this.#look();
  }

  /** Takes the settings of the state over: what is gone is forgotten in the store too. */
  adopt(): void {
    const before = this.#schedules;
    this.#read();
    for (const { key } of before) {
      if (!this.#schedules.some((schedule) => schedule.key === key)) void this.#forget(key);
    }
    if (this.#open) this.#look();
  }

  /** Adds no job from now on. */
  close(): void {
    this.#open = false;
    this.#alarm.cancel();
  }

  #read(): void {
    const { state } = this.#context;
    const nowMs = this.#wallMs();
    const known = new Map(this.#schedules.map((schedule) => [schedule.key, schedule]));
    this.#schedules = state.settings.schedules.map((settings) => {
      const id = scheduleId(settings);
      const key = `schedule/${state.pool}/${id}`;
      const times = timesOf(settings);
      const { mark, nextAtMs = times.next(nowMs), added, ahead } = known.get(key) ?? {};
      return { id, settings, times, key, mark, nextAtMs, added, ahead };
    });
  }

  #look(): void {
    this.#again = true;
    this.#working ??= this.#lookAll().finally(() => {
      this.#working = undefined;
      this.#arm();
    });
  }

  async #lookAll(): Promise<void> {
    while (this.#again && this.#open) {
      this.#again = false;
      let resumeAtMs = Infinity;
      for (const schedule of this.#schedules) {
        if (!this.#isDue(schedule)) continue;
        try {
          await this.#catchUp(schedule);
          this.#pauseMs = FIRST_PAUSE_MS;
        } catch (thrown) {
          const { log, state, clock } = this.#context;
          log.error("A scheduled job could not be stored: it is tried again", {
            pool: state.pool,
            lane: schedule.settings.lane,
            error: messageOf(thrown),
          });
          resumeAtMs = clock.nowMs() + this.#pauseMs;
          this.#pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * this.#pauseMs);
        }
      }
      if (resumeAtMs < Infinity) this.#alarm.by(resumeAtMs);
    }
  }

  #isDue({ mark, nextAtMs, ahead }: Schedule): boolean {
    return mark === undefined || (nextAtMs !== undefined && nextAtMs <= this.#wallMs()) ||
      (ahead !== undefined && ahead.sinceMs + UNMOVED_MS <= this.#context.clock.nowMs());
  }

  #wallMs(): number {
    const { state, clock } = this.#context;
    return state.wall.at(clock.nowMs());
  }

  /** Adds the jobs of all times up to now that nobody has dealt with. */
  async #catchUp(schedule: Schedule): Promise<void> {
    const { store, clock } = this.#context;
    const { key, times } = schedule;
    for (;;) {
      const nowMs = this.#wallMs();
      const entry = await storeCall(clock, () => store.get(key));
      if (!this.#open || !this.#schedules.includes(schedule)) return; // a reload took it away
      const mark = markIn(entry);
      if (mark === undefined) {
        const begins = { [key]: { atMs: nowMs } }; // its times begin now
        await storeCall(clock, () => store.commit({ [key]: entry?.version }, begins));
        continue;
      }
      if (mark.paused) {
        schedule.mark = mark;
        schedule.ahead = undefined;
        schedule.nextAtMs = times.next(nowMs); // whether it still is, is looked at then
        return;
      }
      if (this.#isToCorrect(schedule, mark, entry)) {
        const begins = { [key]: { ...mark, atMs: nowMs } };
        await storeCall(clock, () => store.commit({ [key]: entry?.version }, begins));
        continue;
      }
      schedule.mark = await this.#withJob(schedule, mark, entry);
      const [due] = this.#dueOf(schedule, nowMs);
      if (due === undefined) {
        schedule.nextAtMs = times.next(Math.max(nowMs, mark.atMs));
        return;
      }
      await this.#deal(schedule, due, entry);
    }
  }

  /**
   * True if a mark is so far ahead that its schedule would be silent, and its maker's clock was wrong: this
   * process's own, which was set back, or that of one which shows no sign of life.
   */
  #isToCorrect(schedule: Schedule, mark: Mark, entry: StateEntry | undefined): boolean {
    const { clock, log, state } = this.#context;
    if (mark.atMs - this.#wallMs() <= AHEAD_MS) {
      schedule.ahead = undefined;
      return false;
    }
    const { version, sinceMs } = schedule.ahead ?? { version: "", sinceMs: Infinity };
    const isKnown = version === undefined || version === entry?.version;
    if (!isKnown) schedule.ahead = { version: entry?.version, sinceMs: clock.nowMs() };
    if (!isKnown || clock.nowMs() - sinceMs < UNMOVED_MS) return false;
    const { lane, cron, everyMs } = schedule.settings;
    log.warn(
      "A schedule was marked done up to a future time, by a clock that was ahead: it restarts now",
      {
        pool: state.pool,
        lane,
        ...(cron === undefined ? { everyMs } : { cron }),
        doneUntil: new Date(mark.atMs).toISOString(),
      },
    );
    return true;
  }

  /** Times to deal with, oldest first. Only the last one comes without a job. */
  #dueOf({ settings, times, mark }: Schedule, nowMs: number): readonly Due[] {
    const most = settings.catchUp === "all" ? MOST_MISSED : 1;
    const missed = times.between(mark?.atMs ?? 0, nowMs, most);
    return missed.map((atMs) => ({
      atMs,
      runs: settings.catchUp !== "none" || nowMs - atMs <= LATE_MS,
    }));
  }

  async #deal(
    schedule: Schedule,
    { atMs, runs }: Due,
    entry: StateEntry | undefined,
  ): Promise<void> {
    const { store, clock, add } = this.#context;
    const { key } = schedule;
    const value: Mark = { ...schedule.mark, atMs };
    if (!runs) {
      await storeCall(clock, () => store.commit({ [key]: entry?.version }, { [key]: value }));
      return;
    }
    // What is stored late after all keeps others from its time: the mark goes with it.
    const precondition = { key, version: entry?.version, value };
    const { id, duplicate } = await storeCall(
      clock,
      () => add({ ...this.#timedJobOf(schedule), precondition }),
    );
    if (!duplicate) schedule.added = id;
    else if (id !== "") await this.#skip(schedule, { ...value, skippedAtMs: atMs }, entry);
  }

  /** Its latest job has not ended, and none may run beside it. */
  async #skip(schedule: Schedule, value: Mark, entry: StateEntry | undefined): Promise<void> {
    const { store, clock, log, state } = this.#context;
    const { key, settings: { lane } } = schedule;
    const commit = () => store.commit({ [key]: entry?.version }, { [key]: value });
    if (!await storeCall(clock, commit)) return; // another process has dealt with this time
    const where = { pool: state.pool, lane, job: value.job };
    log.warn("A time of a schedule has no job: its latest one has not ended", where);
  }

  /** The job of a time: due by chance within its jitter, and alone where none may run beside it. */
  #timedJobOf(schedule: Schedule): JobEntry {
    const { jitterMs, overlap } = schedule.settings;
    const job = this.#jobOf(schedule);
    return {
      ...job,
      dueAtMs: job.dueAtMs + jitterMs * this.#context.random(),
      dedupeKey: overlap ? undefined : schedule.key,
    };
  }

  #jobOf({ settings }: Schedule): JobEntry {
    const { state } = this.#context;
    const lane = state.lanes.find(({ name }) => name === settings.lane)!; // the config was checked
    const nowMs = this.#wallMs();
    return {
      lane: lane.index,
      type: settings.type,
      payload: settings.payload,
      key: undefined,
      dueAtMs: nowMs,
      expiresAtMs: nowMs + lane.settings.ttlMs,
      dedupeKey: undefined,
      traceparent: undefined,
    };
  }

  /** The mark with the id of the job that this process stored last, by which its end is found. */
  async #withJob(schedule: Schedule, mark: Mark, entry: StateEntry | undefined): Promise<Mark> {
    const { key, added } = schedule;
    schedule.added = undefined;
    if (added === undefined) return mark;
    const { store, clock } = this.#context;
    const known = { ...mark, job: added };
    const sets = { [key]: known };
    const commit = () => store.commit({ [key]: entry?.version }, sets);
    const isKept = await storeCall(clock, commit).catch(() => false); // the job is stored all the same
    return isKept ? known : mark; // or another process has dealt with its next time
  }

  /** Changes what the store knows of a schedule. */
  async #mark(schedule: Schedule, change: (mark: Mark) => Mark): Promise<void> {
    const { store, clock } = this.#context;
    const { key } = schedule;
    for (;;) {
      const entry = await storeCall(clock, () => store.get(key));
      const mark = change(markIn(entry) ?? { atMs: this.#wallMs() });
      const sets = { [key]: mark };
      if (!await storeCall(clock, () => store.commit({ [key]: entry?.version }, sets))) continue;
      schedule.mark = mark;
      return;
    }
  }

  /** A store that fails keeps a mark that nobody reads. */
  async #forget(key: string): Promise<void> {
    try {
      await this.#context.store.commit({}, { [key]: undefined });
    } catch {
      // As above.
    }
  }

  #arm(): void {
    if (!this.#open) return;
    const { clock, state } = this.#context;
    const next = Math.min(
      ...this.#schedules.map(({ nextAtMs = Infinity, ahead }) =>
        Math.min(nextAtMs - state.wall.aheadMs, (ahead?.sinceMs ?? Infinity) + UNMOVED_MS)
      ),
    );
    if (next > clock.nowMs() && next < Infinity) this.#alarm.by(next);
  }
}

interface Due {
  readonly atMs: number;
  /** False: it is too late for a job. */
  readonly runs: boolean;
}

function viewOf({ id, settings, mark, nextAtMs }: Schedule): ScheduleView {
  const { lane, type, cron, everyMs, timezone, jitterMs, overlap, catchUp } = settings;
  const paused = mark?.paused === true;
  return {
    ...{ id, lane, type, cron, everyMs, timezone, jitterMs, overlap, catchUp, paused },
    nextAtMs: paused ? undefined : nextAtMs,
    lastAtMs: mark?.atMs,
    lastJob: mark?.job,
    skippedAtMs: mark?.skippedAtMs,
  };
}
