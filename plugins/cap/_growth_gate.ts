/**
 * Decides when a pool tries another size, and what comes of it.
 *
 * @module
 */

import { counted } from "../../src/base/format.ts";
import { combined } from "../../src/base/estimates.ts";
import type { Limit } from "../../src/contract/strategy.ts";
import type { LaneView, PoolView } from "../../src/contract/view.ts";
import { OverloadHeard } from "./_overload.ts";
import { between, FEW, KNOWN, MANY, read, type Reading, RunSample, Usual } from "./_sample.ts";
import { CROWDED, judge, SURE, type Trial, type TrialVerdict } from "./_trial.ts";

/** A first trial goes to half: a share r costs (1 - r) / (r ln^2 r) for a certainty, 2.1 at 1/2, 6.7 at 0.85. */
const MOST_STEP = 2;
/** A held pool tries a quarter less or more, so it is at most that far from the best; the square while that works. */
const STEP = 1.25;
/** What a trial leaves at least of a pool that shares its downstream: of less it would take too long to tell. */
const LEAST_SHARE = 0.25;
/** Run times that rose less say that the pool is less than 1.3 times too large: behind a knee S goes as n. */
const RISE = 1.3;
/** Standard errors of such a rise: it is looked for at each slice, so two would be seen once a minute where none is. */
const RISE_ERRORS = 3;
/** A pool is late while a job was late within so long, ms: at least 5 ticks. */
const LATE_MS = 1000;
/** Workers that are less busy though jobs wait do so for the store: their number is not what is wrong. */
const FULL = 0.9;
/** So long a held pool rests between trials, and then is given a step if nothing was late, ms: 10 s less a climb. */
const REST_MS = 6000;
/** And five times as long as the last trial of each process took: a sixth of the time at most is at a worse size. */
const REST_TRIALS = 5;
/** 300 times what a trial cost a pool that is not held passes before the next: trials cost a third of 1 % at most. */
const THRIFT = 300;
/** And four times as long after each trial in a row that was not sure: they tell little of such a pool. */
const UNSURE = 4;

/** What is known of one pool. */
export class GrowthGate {
  readonly #overload = new OverloadHeard();
  readonly #usual = new Usual();
  #isHealthy = false; // a smaller size did less
  #level = Infinity; // what was found; Infinity: nothing, the pool is not held
  #step = MOST_STEP;
  #isUp = false; // where the next trial of a held pool goes
  #unsure = 0; // trials in a row that found nothing, not for sure
  #restUntilMs = 0;
  #trial: Trial | undefined;
  #here: RunSample | undefined; // attempts at the present size
  #pressed: RunSample | undefined; // those while a job is late all the time
  #settledAt: number | undefined; // the count of ended attempts from which on all were begun at this size
  #last: Reading | undefined;
  #target = -1;
  #lateAtMs = -Infinity;
  #easedAtMs = -Infinity;
  #why = "nothing found";

  /** @param probe Whether it tries sizes; otherwise it only listens. */
  constructor(readonly probe: boolean) {}

  /** Answers the cap's question. @param wanted What the pool would have without it. */
  ask(view: PoolView, wanted: number): Limit {
    if (this.#overload.hear(view)) {
      this.#drop();
      this.#why =
        `the downstream is overloaded, it says: ${this.#overload.workers}, then more by and by`;
    }
    if (this.probe) this.#measure(view, wanted);
    this.#target = view.target;
    const workers = Math.min(this.#trial?.to ?? this.#level, this.#overload.workers);
    return { workers: workers < view.size.max ? workers : Infinity, reason: this.#why };
  }

  #measure(view: PoolView, wanted: number): void {
    const { nowMs, size, target, stale, rateBound, live, lanes } = view;
    const now = read(view);
    if (lanes.some(isLate)) this.#lateAtMs = nowMs;
    const isOther = target !== this.#target;
    if (stale || rateBound || (isOther && this.#target === this.#trial?.to)) this.#drop();
    if (isOther) this.#here = this.#settledAt = this.#pressed = undefined;
    const late = nowMs - this.#lateAtMs <= LATE_MS;
    if (nowMs - Math.max(this.#lateAtMs, this.#easedAtMs) > REST_MS) this.#ease(view);
    if (this.#trial === undefined && this.#last !== undefined) {
      this.#usual.learn(between(this.#last, now), (!late || this.#isHealthy) && !this.#rises());
    }
    this.#last = now;
    this.#pressed = this.#lateAtMs < nowMs ? undefined : this.#pressed ?? new RunSample(now);
    const [here, pressed] = [this.#here, this.#pressed];
    pressed?.add(now);
    if (here === undefined) this.#settle(now, target, lanes);
    else if (here.add(now) && here.slices.length >= FEW) {
      const isPressed = pressed !== undefined && pressed.slices.length >= FEW;
      const waits = late && (isPressed ? pressed : here).concurrency <= FULL * live;
      if (waits) this.#trial = undefined;
      const isLong = waits && isPressed && pressed.slices.length >= MANY;
      if (isLong && this.#level < Infinity) this.#hold(Infinity, size, this.#why);
      if (this.#trial !== undefined) this.#judge(view, this.#trial, here);
      else if (late && !waits && nowMs >= this.#restUntilMs) this.#consider(view, wanted, here);
    }
  }

  /** Begins a sample once what was begun at another size has ended: as many as ran. */
  #settle(now: Reading, target: number, lanes: readonly LaneView[]): void {
    const running = lanes.reduce((sum, lane) => sum + lane.running, 0);
    if (this.#settledAt === undefined && running <= target) this.#settledAt = now.ended + running;
    if (now.ended >= (this.#settledAt ?? Infinity)) this.#here = new RunSample(now);
  }

  /** Jobs are late: could another size be better? Begins a trial, once it knows enough to compare with. */
  #consider({ nowMs, size, target, peers }: PoolView, wanted: number, here: RunSample): void {
    // Half of the variance that a verdict may have.
    const { error } = combined(...here.slowness(here.lanes));
    const isClear = SURE * Math.SQRT2 * error <= CROWDED * Math.log(MOST_STEP);
    const [isHeld, isWhole] = [this.#level < Infinity, here.slices.length >= MANY];
    if (!isClear && !isWhole) return;
    // False if it keeps up, or takes no longer than usual: what is late passes, or more workers help. A
    // difference of two Poisson counts has the variance of their sum; others may have what one is behind.
    const { behind, ended } = between(here.begun, here.until);
    const isBehind = behind >= SURE * Math.sqrt(2 * ended) ||
      (isWhole && peers > 1 && target >= size.max);
    const isSlow = this.#rises() || this.#unsure > 0 || this.#usual.good < KNOWN;
    if (!isHeld && !(isBehind && isSlow)) return;
    // It is the whole of all processes that is to be a step larger or smaller.
    const less = Math.max(LEAST_SHARE, 1 - peers * (1 - 1 / this.#step));
    const below = Math.max(size.min, 1, Math.min(target - 1, Math.round(target * less)));
    const more = Math.max(target + 1, Math.round(target * (1 + peers * (this.#step - 1))));
    if (isHeld && below >= target) this.#isUp = true;
    const to = this.#isUp ? Math.max(target, Math.min(wanted, more)) : Math.min(target, below);
    if (to !== target) this.#trial = { before: here, from: target, to, beganAtMs: nowMs };
  }

  /** True if attempts take longer than usual, for sure. */
  #rises(): boolean {
    if (this.#here === undefined) return false;
    const { value, error } = this.#usual.slowness(this.#here);
    return value > Math.max(Math.log(RISE), RISE_ERRORS * error); // false of few slices
  }

  #judge({ nowMs, peers, size }: PoolView, trial: Trial, here: RunSample): void {
    const { from, to, beganAtMs, before } = trial;
    const [isHeld, isDown] = [this.#level < Infinity, to < from];
    const verdict = judge(trial, here, peers, isHeld);
    const { helps, span, value, error } = verdict;
    if (helps === undefined) return;
    this.#trial = undefined;
    const tookMs = nowMs - beganAtMs;
    const times = Math.exp(value * span).toFixed(2);
    const why = `${counted(to, "worker")}, not ${from}: run times ${times} times as long`;
    this.#isHealthy = !isHeld && !helps && (this.#isHealthy || value < CROWDED);
    if (!isHeld && !helps) {
      this.#why = why;
      const lost = 1 - Math.exp(Math.min(0, (1 - value) * span));
      this.#restUntilMs = nowMs + THRIFT * peers * tookMs * lost * UNSURE ** this.#unsure++;
      if (value < CROWDED) this.#usual.adopt(before);
      if (value + SURE * error < CROWDED) this.#unsure = 0; // for sure: no more unless run times rise
      return;
    }
    const isFar = helps && (!isDown || value + error > 1);
    this.#step = isFar ? Math.min(MOST_STEP, this.#step ** 2) : STEP;
    const restMs = Math.max(REST_MS, REST_TRIALS * peers * tookMs);
    this.#restUntilMs = helps || isDown ? 0 : nowMs + restMs;
    if (!helps) this.#isUp = isDown;
    this.#hold(Math.max(1, size.min, this.#levelBy(trial, verdict)), size, why);
  }

  /** The size that a trial speaks for. Others will find the same, so the whole is scaled, not the part. */
  #levelBy({ before, from, to }: Trial, { helps, span, value }: TrialVerdict): number {
    // Little's law: X of the larger size takes as many workers as X times S of the smaller.
    const larger = from * Math.exp(Math.max(0, span));
    const slower = helps && to > from ? 1 : Math.exp(Math.max(0, value) * Math.abs(span));
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const carries = Math.max(low, Math.min(high, Math.round(larger / slower)));
    // And run times fall to what is usual where S does, which goes as n^e.
    const rise = this.#usual.slowness(before).value; // NaN if nothing is known
    const usual = Math.round(larger * Math.exp(-rise / Math.max(1, value)));
    return helps && to < from && usual < carries / STEP ? usual : carries;
  }

  /** Nothing was late for long: the bound rises by a step, and by and by is gone. */
  #ease({ nowMs, size }: PoolView): void {
    this.#easedAtMs = nowMs;
    this.#drop();
    this.#isUp = false;
    if (this.#level < Infinity) this.#hold(Math.ceil(this.#level * STEP), size, "nothing was late");
  }

  #hold(level: number, { max }: PoolView["size"], why: string): void {
    this.#level = level < max ? level : Infinity;
    this.#why = level < max ? `${why}, held at ${level}` : why;
    if (level < max) return;
    this.#drop();
    this.#step = MOST_STEP;
    this.#isUp = false;
    this.#unsure = this.#restUntilMs = 0;
  }

  /** What was measured is not the workers' doing, or no longer asked. */
  #drop(): void {
    this.#trial = this.#here = this.#settledAt = undefined;
  }
}

/** True if a job is late that another worker could run. */
function isLate({ oldestWaitMs, targetWaitMs, running, maxRunning }: LaneView): boolean {
  return targetWaitMs !== null && oldestWaitMs > targetWaitMs && running < maxRunning;
}
