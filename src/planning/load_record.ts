/**
 * What came to a pool in the last ten minutes, second by second: enough to play it again in the
 * simulator. A second takes 48 bytes a lane; one in which a pool rests takes none.
 *
 * @module
 */

/** How long it is remembered, s. */
const SECONDS = 600;

const EVERY_MS = 1000;

/** Times are compared to this many ms. */
const GRAIN_MS = 0.5;

/** A lane as it is recorded: counts since the pool began. */
export interface RecordedLane {
  /** Its name. */
  readonly name: string;
  /** Jobs accepted. */
  readonly arrivals: number;
  /** Jobs rejected, or dropped as late. */
  readonly shed: number;
  /** Jobs that died, among them those dropped as late: they had been accepted. */
  readonly dead: { readonly late: number };
  /** Attempts whose run time was measured. */
  readonly timed: number;
  /** Sum of their run times, ms. */
  readonly timedMs: number;
  /** Sum of the logarithms of their run times in ms. */
  readonly timedLog: number;
  /** Attempts that failed. */
  readonly failures: number;
  /** Jobs that wait. */
  readonly ready: number;
}

/** The load of one lane, a figure for each second; the first lists are equally long. */
export interface LaneLoadRecord {
  /** Its name. */
  readonly name: string;
  /** Jobs that waited at the beginning. */
  readonly waiting: number;
  /** Jobs that came, accepted or rejected. */
  readonly offered: readonly number[];
  /** Attempts that ended. */
  readonly timed: readonly number[];
  /** Sum of their run times, ms. */
  readonly timedMs: readonly number[];
  /** Sum of the logarithms of their run times in ms: tells how uneven they were. */
  readonly timedLog: readonly number[];
  /** Attempts that failed. */
  readonly failures: readonly number[];
}

/** The recent load of one pool. */
export interface LoadRecord {
  /** Begin of the first second, ms since epoch. */
  readonly fromMs: number;
  /** Length of what each figure is of, ms. */
  readonly everyMs: number;
  /** Its lanes, highest priority first. */
  readonly lanes: readonly LaneLoadRecord[];
}

const FIGURES = 6;

interface Look {
  readonly atMs: number;
  readonly figures: Float64Array;
}

/** Records the load of one pool. */
export class LoadRecorder {
  #names: readonly string[] = [];
  #looks: Look[] = [];
  #first = 0; // of those that are kept

  /** Looks at the lanes, at each tick: records once a second. */
  look(nowMs: number, lanes: readonly RecordedLane[]): void {
    const last = this.#looks.at(-1);
    if (last !== undefined && nowMs - last.atMs < EVERY_MS - GRAIN_MS) return;
    if (!this.#knows(lanes)) {
      this.#names = lanes.map(({ name }) => name);
      this.#looks = []; // after a reload of lanes, what was before says nothing
      this.#first = 0;
    }
    this.#looks.push(lookAt(nowMs, lanes));
    while (this.#looks[this.#first]!.atMs < nowMs - SECONDS * EVERY_MS) this.#first++;
    if (this.#first > SECONDS) {
      this.#looks.splice(0, this.#first);
      this.#first = 0;
    }
  }

  #knows(lanes: readonly RecordedLane[]): boolean {
    return this.#names.length === lanes.length &&
      lanes.every(({ name }, index) => name === this.#names[index]);
  }

  /** What came in the last `forMs`, up to now: a pool at rest does not look. `undefined`: it began just now. */
  read(
    nowMs: number,
    lanes: readonly RecordedLane[],
    forMs: number = SECONDS * EVERY_MS,
  ): LoadRecord | undefined {
    if (!this.#knows(lanes)) return undefined;
    const kept = this.#looks.slice(this.#first).filter(({ atMs }) =>
      atMs >= nowMs - forMs - GRAIN_MS && atMs < nowMs
    );
    const looks = [...kept, lookAt(nowMs, lanes)];
    const [first] = looks;
    const last = looks.at(-1);
    if (first === undefined || last === undefined || last === first) return undefined;
    const seconds = Math.ceil((last.atMs - first.atMs) / EVERY_MS - GRAIN_MS / EVERY_MS);
    return {
      fromMs: first.atMs,
      everyMs: EVERY_MS,
      lanes: this.#names.map((name, index) => {
        const series = (figure: number): readonly number[] =>
          differences(looks, { seconds, at: index * FIGURES + figure });
        return {
          name,
          waiting: first.figures[index * FIGURES + 5]!,
          offered: series(0),
          timed: series(1),
          timedMs: series(2),
          timedLog: series(3),
          failures: series(4),
        };
      }),
    };
  }
}

function lookAt(atMs: number, lanes: readonly RecordedLane[]): Look {
  const figures = new Float64Array(lanes.length * FIGURES);
  let at = 0;
  for (const { arrivals, shed, dead, timed, timedMs, timedLog, failures, ready } of lanes) {
    const offered = arrivals + shed - dead.late;
    figures.set([offered, timed, timedMs, timedLog, failures, ready], at);
    at += FIGURES;
  }
  return { atMs, figures };
}

/** How much a count rose in each second. After a rest, what came belongs to the second that ended it. */
function differences(
  looks: readonly Look[],
  { seconds, at }: { readonly seconds: number; readonly at: number },
): readonly number[] {
  const series = new Array<number>(seconds).fill(0);
  const fromMs = looks[0]!.atMs;
  for (let index = 1; index < looks.length; index++) {
    const { atMs, figures } = looks[index]!;
    const second = Math.ceil((atMs - fromMs - GRAIN_MS) / EVERY_MS) - 1;
    const rise = figures[at]! - looks[index - 1]!.figures[at]!;
    series[Math.min(Math.max(second, 0), seconds - 1)]! += rise;
  }
  return series;
}
