/**
 * Decides when a pool tries another size, and what comes of it.
 *
 * @module
 */

import { counted } from "../../src/base/format.ts";
import { combined, type Estimate } from "../../src/base/estimates.ts";
import type { Limit } from "../../src/contract/strategy.ts";
import type { LaneView, PoolView } from "../../src/contract/view.ts";
import type { OverloadHeard } from "./_overload.ts";
import { between, FEW, KNOWN, MANY, read, type Reading, RunSample, Usual } from "./_sample.ts";

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
/** Standard errors that a change asks for: wrong one time in 44 at most. To stay takes one, the cheaper mistake. */
const SURE = 2;
/** And odds for e = 1 against 0, times processes: all that look, each as often as it likes, err so rarely (Wald). */
const ODDS = 44;
/** e = ln(S'/S) / ln(n'/n) of n busy workers: at 0 they bring all that they can, at 1 nothing. This is between. */
const CROWDED = 0.5;

/** Two sizes that are compared, and attempts at the first. */
interface Trial {
  readonly before: RunSample;
  readonly from: number;
  readonly to: number;
}

/** What is known of one pool. */
export class GrowthGate {
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
  constructor(readonly probe: boolean, readonly overload: OverloadHeard) {}

  /** Answers the cap's question. @param wanted What the pool would have without it. */
  ask(view: PoolView, wanted: number): Limit {
    if (this.overload.hear(view)) {
      this.#trial = undefined;
      this.#why =
        `the downstream is overloaded, it says: ${this.overload.workers}, then more by and by`;
    }
    if (this.probe) this.#measure(view, wanted);
    this.#target = view.target;
    const workers = Math.min(this.#trial?.to ?? this.#level, this.overload.workers);
    return { workers: workers < view.size.max ? workers : Infinity, reason: this.#why };
  }

  #measure(view: PoolView, wanted: number): void {
    const { nowMs, size, target, stale, rateBound, live, lanes } = view;
    const now = read(view);
    if (lanes.some(isLate)) this.#lateAtMs = nowMs;
    const isOther = target !== this.#target;
    if (isOther && this.#target === this.#trial?.to) this.#giveUp(view);
    if (isOther || stale || rateBound) this.#here = this.#settledAt = this.#pressed = undefined;
    const late = nowMs - this.#lateAtMs <= LATE_MS;
    // Nothing is late any more before it has begun, or workers do not leave (idle-only).
    const lastsMs = nowMs - (this.#trial?.before.until.atMs ?? nowMs);
    const isVain = this.#here === undefined && (!late || (lastsMs > LATE_MS && live > target));
    if (stale || rateBound || isVain) this.#giveUp(view);
    if (nowMs - Math.max(this.#lateAtMs, this.#easedAtMs) > REST_MS) {
      [this.#easedAtMs, this.#isUp] = [nowMs, false];
      const more = Math.ceil(this.#level * STEP); // by and by the bound is gone
      if (this.#level < Infinity) this.#hold(more, size, "nothing was late");
    }
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
      const isIdle = keepsUp(view) && here.concurrency <= FULL * live;
      if (isIdle && this.#trial !== undefined && this.#isUp) {
        this.#hold(this.#trial.to, size, "nothing waits");
      } else if (waits) this.#giveUp(view);
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
  #consider({ size, target, peers }: PoolView, wanted: number, here: RunSample): void {
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
    if (to !== target) this.#trial = { before: here, from: target, to };
  }

  /** True if attempts take longer than usual, for sure. */
  #rises(): boolean {
    if (this.#here === undefined) return false;
    const { value, error } = this.#usual.slowness(this.#here);
    return value > Math.max(Math.log(RISE), RISE_ERRORS * error); // false of few slices
  }

  /** Compares both sizes, others taken to be alike, and changes the size if that is to be told. */
  #judge(view: PoolView, trial: Trial, here: RunSample): void {
    const { nowMs, peers, size } = view;
    const { from, to, before } = trial;
    const [isHeld, isDown] = [this.#level < Infinity, to < from];
    const isWhole = here.slices.length >= MANY;
    const others = (peers - 1) * before.concurrency;
    const span = Math.log((here.concurrency + others) / (before.concurrency + others));
    const then = before.slowness(before.lanes);
    const [work, typical] = here.slowness(before.lanes).map(({ value, error }, way) => ({
      value: value / span,
      error: Math.hypot(error, then[way]!.error) / Math.abs(span),
    })) as [Estimate, Estimate]; // both of both
    const { value, error } = combined(work, typical);
    const margin = (e: number): number => isDown ? e - CROWDED : CROWDED - e;
    // A change has to be seen both ways, and to be sure. Of a held pool one error has to do, to grow none.
    const sure = Math.max(SURE * error, Math.log(ODDS * peers) * error ** 2);
    const least = !isHeld || !isWhole ? sure : isDown ? error : 0;
    const isSeen = Math.min(margin(work.value), margin(typical.value)) > 0;
    const helps = isSeen && margin(value) > least;
    if (!helps && !isWhole && margin(value) > -error) return; // not to be told yet
    if (helps && !isHeld && keepsUp(view)) return this.#giveUp(view); // what took longer is over
    const times = Math.exp(value * span).toFixed(2);
    const why = `${counted(to, "worker")}, not ${from}: run times ${times} times as long`;
    this.#isHealthy = !isHeld && !helps && (this.#isHealthy || value < CROWDED);
    if (!isHeld && !helps) {
      this.#trial = undefined;
      this.#why = why;
      // Of what it cost little is known where e is not: it is from 0 to 1, evenly, of variance 1/12.
      const likely = Math.min(1, CROWDED + (value - CROWDED) / (1 + 12 * error ** 2));
      this.#rest(view, trial, 1 - Math.exp((1 - likely) * span));
      if (value < CROWDED) this.#usual.adopt(before);
      if (value + SURE * error < CROWDED) this.#unsure = 0; // for sure: no more unless run times rise
      return;
    }
    const isFar = helps && (!isDown || value + error > 1);
    this.#step = isFar ? Math.min(MOST_STEP, this.#step ** 2) : STEP;
    const restMs = Math.max(REST_MS, REST_TRIALS * peers * (nowMs - before.until.atMs));
    this.#restUntilMs = helps || isDown ? 0 : nowMs + restMs;
    if (!helps) this.#isUp = isDown;
    // Others will find the same, so the whole is scaled. By Little's law X of the larger size takes as many
    // workers as X times S of the smaller; and run times fall to what is usual where S does, which goes as n^e.
    const larger = from * Math.exp(Math.max(0, span));
    const slower = helps && !isDown ? 1 : Math.exp(Math.max(0, value) * Math.abs(span));
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const carries = Math.max(low, Math.min(high, Math.round(larger / slower)));
    const rise = this.#usual.slowness(before).value; // NaN if nothing is known
    const usual = Math.round(larger * Math.exp(-rise / Math.max(1, value)));
    const level = helps && isDown && usual < carries / STEP ? usual : carries;
    this.#hold(Math.max(1, size.min, level), size, why);
  }

  /** A trial ends without a verdict. If jobs waited, it has cost as much as one that found nothing. */
  #giveUp(view: PoolView): void {
    const trial = this.#trial;
    this.#trial = undefined;
    if (trial === undefined || this.#level < Infinity || keepsUp(view)) return;
    this.#rest(view, trial, 1 - trial.to / trial.from);
  }

  /** So long that trials do not cost much. @param lost Share of the work that this one has cost. */
  #rest({ nowMs, peers }: PoolView, { before }: Trial, lost: number): void {
    const lostMs = lost * (nowMs - before.until.atMs);
    this.#restUntilMs = nowMs + THRIFT * peers * lostMs * UNSURE ** this.#unsure++;
  }

  #hold(level: number, { max }: PoolView["size"], why: string): void {
    this.#trial = undefined;
    this.#level = level < max ? level : Infinity;
    this.#why = level < max ? `${why}, held at ${level}` : why;
    if (level < max) return;
    [this.#step, this.#isUp] = [MOST_STEP, false];
    this.#unsure = this.#restUntilMs = 0;
  }
}

/** True if no job waits for a worker. */
function keepsUp({ lanes }: PoolView): boolean {
  return lanes.every(({ ready }) => ready === 0);
}

/** True if a job is late that another worker could run. */
function isLate({ oldestWaitMs, targetWaitMs, running, maxRunning }: LaneView): boolean {
  return targetWaitMs !== null && oldestWaitMs > targetWaitMs && running < maxRunning;
}
