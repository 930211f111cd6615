/**
 * A store of maps, to begin one of your own from: short, and slow, since each call walks through all
 * jobs. Nothing outlives the process. `docs/stores.md` says what has to hold.
 *
 * @module
 */

import {
  defineStore,
  IdempotencyError,
  IDEMPOTENT_FOR_MS,
  type Plugin,
} from "@sluice/sluice/store";
import type { Added, JobEntry, JobRecord, JobState, Outcome } from "@sluice/sluice/store";
import type { Queue, QueueOptions, StateEntry, Store } from "@sluice/sluice/store";

/** The store of maps. Takes no options. */
export const mapStore: Plugin<"store", Record<string, never>> = defineStore({
  name: "maps",
  durable: false,
  create: makeMapStore,
});

/** A job. `place` is its turn among those that became claimable at one time. */
type Row = { -readonly [K in keyof JobRecord]: JobRecord[K] } & {
  readonly number: number;
  readonly entry: JobEntry;
  place: number;
  fence: number;
  firstReadyAtMs?: number | undefined;
  holder?: Member | undefined;
  isCancelled?: boolean;
  isForgotten?: boolean;
};

/** An open queue. Others see by its beats that it lives: clocks are never compared. */
interface Member {
  readonly options: QueueOptions;
  readonly waiting: Map<string, ((outcome: Outcome) => void)[]>;
  beats: number;
  isDead: boolean;
}

/** What the members of one pool share. */
class Shared {
  readonly rows = new Map<string, Row>();
  readonly members = new Set<Member>();

  select(holds: (row: Row) => boolean): Row[] {
    return [...this.rows.values()].filter((row) => !row.isForgotten && holds(row));
  }

  /** Moves on what goes by time: what has expired, is due, may start, or is kept no longer. */
  advance({ options: { lanes, keep, listener } }: Member, nowMs: number): void {
    for (const row of this.select((row) => isWaiting(row) && row.entry.expiresAtMs <= nowMs)) {
      this.end(row, "dead", nowMs, { reason: "expired" });
      listener.ended(recordOf(row));
    }
    for (const { name, maxRunningPerKey } of lanes) {
      const running = this.select((row) => row.lane === name && row.state === "running");
      const taken = running.map(({ key }) => key);
      const due = this.select((row) => row.lane === name && isWaiting(row) && row.dueAtMs <= nowMs);
      for (const row of due.sort((a, b) => compare(turnOf(a), turnOf(b)))) {
        const beside = taken.filter((key) => key === row.key).length;
        const isFree = row.key === undefined || beside < maxRunningPerKey;
        if (isFree) {
          row.readyAtMs ??= row.state === "blocked" ? nowMs : row.dueAtMs;
          row.firstReadyAtMs ??= row.dueAtMs;
        }
        row.state = isFree ? "ready" : "blocked";
        taken.push(row.key);
      }
    }
    const kept = { done: 0, dead: 0 };
    for (const row of this.select(isEnded).sort((a, b) => compare(endOf(a), endOf(b)))) {
      const kind = row.state === "dead" ? "dead" : "done";
      row.isForgotten = ++kept[kind] > keep[kind] || row.endedAtMs! + keep.forMs <= nowMs;
    }
    for (const [id, { isForgotten, endedAtMs = Infinity }] of this.rows) {
      if (isForgotten && endedAtMs + IDEMPOTENT_FOR_MS <= nowMs) this.rows.delete(id);
    }
  }

  /** Who has one of the entry's names. An idempotency key is a name for some time after the end too. */
  ownerOf({ idempotency, dedupeKey }: JobEntry, nowMs: number, but?: Row): Added | undefined {
    const names = [idempotency?.key, dedupeKey].filter((name) => name !== undefined);
    for (const row of this.rows.values()) {
      if (row === but) continue;
      const { endedAtMs = Infinity, entry } = row;
      const own = entry.idempotency;
      if (own?.key === idempotency?.key && own && endedAtMs + IDEMPOTENT_FOR_MS > nowMs) {
        if (own.fingerprint === idempotency?.fingerprint) return { id: row.id, duplicate: true };
        return { id: "", duplicate: false, error: new IdempotencyError(own.key) };
      }
      const isNamed = names.some((name) => name === own?.key || name === entry.dedupeKey);
      if (isNamed && !isEnded(row)) return { id: row.id, duplicate: true };
    }
  }

  end(row: Row, state: "done" | "dead" | "cancelled", nowMs: number, more: Partial<Row>): void {
    Object.assign(row, { error: undefined, ...more, state, endedAtMs: nowMs, holder: undefined });
    for (const { waiting } of this.members) {
      for (const tell of waiting.get(row.id) ?? []) tell(outcomeOf(row));
      waiting.delete(row.id);
    }
  }

  /** Ends a lease but not its job, unless that is cancelled. */
  release(row: Row, nowMs: number, more: Partial<Row>): void {
    if (row.isCancelled) this.end(row, "cancelled", nowMs, {});
    else Object.assign(row, { state: "ready", ...more, holder: undefined });
  }

  /** Takes back what a dead member holds: charged, since a job may be what killed it. How many. */
  reap(dead: Member, { lanes, attempts, listener }: QueueOptions, nowMs: number): number {
    const held = this.select(({ holder }) => holder === dead);
    for (const row of held) {
      const most = attempts[lanes.findIndex(({ name }) => name === row.lane)] ?? Infinity;
      if (row.attempt < most || row.isCancelled) this.release(row, nowMs, {});
      else {
        this.end(row, "dead", nowMs, { reason: "attempts" });
        listener.ended(recordOf(row));
      }
    }
    return held.length;
  }

  wake(but?: Member): void {
    for (const member of this.members) if (member !== but) member.options.listener.wake();
  }
}

function makeMapStore(): Store {
  const pools = new Map<string, Shared>();
  const state = new Map<string, StateEntry>();
  let last = 0;
  const next = (): number => ++last;
  const commit: Store["commit"] = (checks, sets) => {
    const isAs = ([key, version]: [string, unknown]) => state.get(key)?.version === version;
    if (!Object.entries(checks).every(isAs)) return false;
    for (const [key, value] of Object.entries(structuredClone(sets))) {
      if (value === undefined) state.delete(key);
      else state.set(key, { value, version: `${next()}` });
    }
    for (const pool of pools.values()) pool.wake();
    return true;
  };
  const open: Store["open"] = (options) => {
    const pool = pools.get(options.pool) ?? new Shared();
    pools.set(options.pool, pool);
    return openQueue(pool, options, next, commit);
  };
  return { open, commit, get: (key) => state.get(key), close: () => pools.clear() };
}

function openQueue(
  pool: Shared,
  options: QueueOptions,
  next: () => number,
  commit: Store["commit"],
): Queue {
  const self: Member = { options, waiting: new Map(), beats: 0, isDead: false };
  const seen = new Map<Member, { readonly beats: number; readonly atMs: number }>();
  const lanes = options.lanes.map(({ name }) => name);
  const changed = (nowMs: number): void => {
    pool.advance(self, nowMs);
    pool.wake(self);
  };
  const inState = (lane: number, state: JobState): readonly Row[] =>
    pool.select((row) => row.lane === lanes[lane] && row.state === state)
      .sort((a, b) => compare(turnOf(a), turnOf(b)));
  const addNew = (entry: JobEntry, nowMs: number): Added => {
    const { type, payload, key, traceparent, precondition: on } = entry;
    const isAs = on === undefined || commit({ [on.key]: on.version }, { [on.key]: on.value });
    if (!isAs) return { id: "", duplicate: true };
    const [number, dueAtMs] = [next(), Math.max(entry.dueAtMs, nowMs)];
    const stored = { number, place: number, fence: 0, attempt: 0, entry, pool: options.pool };
    const job = { id: `m${number}`, lane: lanes[entry.lane]!, type, payload, key, traceparent };
    pool.rows.set(job.id, { ...stored, ...job, state: "delayed", createdAtMs: nowMs, dueAtMs });
    return { id: job.id, duplicate: false };
  };
  /** True once another has not beaten for a lease, by our own clock. All are in one process here. */
  const isGone = (other: Member, steadyMs: number): boolean => {
    const { beats, options: { leaseMs, listener } } = other;
    if (seen.get(other)?.beats !== beats) seen.set(other, { beats, atMs: steadyMs });
    return steadyMs - seen.get(other)!.atMs >= leaseMs || listener.gone?.() === true;
  };
  pool.members.add(self);
  pool.wake(self);
  return {
    add: (entries, nowMs) => {
      const added = entries.map((entry) => pool.ownerOf(entry, nowMs) ?? addNew(entry, nowMs));
      changed(nowMs);
      return added;
    },
    lease: (wants, nowMs, ahead) => {
      if (self.isDead) return [];
      pool.advance(self, nowMs);
      const rows = wants.flatMap((want, lane) => {
        const ready = inState(lane, "ready").slice(0, want);
        const isLast = ({ attempt }: Row) => attempt + 1 >= options.attempts[lane]!;
        const starting = want - (ahead?.[lane] ?? 0); // the others wait: none may have its last attempt
        const end = ready.findIndex((row, index) => index >= starting && isLast(row));
        return end < 0 ? ready : ready.slice(0, end);
      });
      return rows.map((row) => {
        Object.assign(row, { state: "running", holder: self, startedAtMs: nowMs, fence: next() });
        row.attempt++;
        const { readyAtMs = row.dueAtMs, entry: { expiresAtMs } } = row;
        return { ...row, laneIndex: lanes.indexOf(row.lane), readyAtMs, expiresAtMs };
      });
    },
    settle: (settlements, nowMs) => {
      const settled = settlements.map(({ job, fence, to, charged, dueAtMs, ...ending }) => {
        const row = pool.rows.get(job.id);
        if (row?.holder !== self || row.fence !== fence) return false;
        if (!charged) row.attempt--;
        const later = { state: "delayed", dueAtMs, readyAtMs: undefined } as const;
        const again = { ...later, error: ending.error, place: next() };
        if (to === "back" || to === "retry") pool.release(row, nowMs, to === "back" ? {} : again);
        else pool.end(row, to, nowMs, ending);
        return true;
      });
      changed(nowMs);
      return settled;
    },
    renew: (nowMs, steadyMs = nowMs) => {
      const alive = !self.isDead;
      Object.assign(self, { isDead: false, beats: self.beats + 1 });
      let reaped = 0;
      for (const other of pool.members) {
        if (other === self || other.isDead || !isGone(other, steadyMs)) continue;
        other.isDead = true;
        reaped += pool.reap(other, options, nowMs);
      }
      if (reaped > 0 || !alive) changed(nowMs);
      const shares = (member: Member) => member === self || member.options.leases !== false;
      const peers = [...pool.members].filter((one) => !one.isDead && shares(one)).length;
      return { alive, peers, reaped, nextAtMs: steadyMs + options.leaseMs / 3 };
    },
    count: (nowMs) => {
      pool.advance(self, nowMs);
      return lanes.map((_, lane) => {
        const count = (state: JobState): number => inState(lane, state).length;
        const first = (state: JobState) => turnOf(inState(lane, state)[0])[1] ?? Infinity;
        const [ready, blocked] = [count("ready"), count("blocked")];
        const times = {
          oldestReadyAtMs: first("ready"),
          oldestBlockedAtMs: first("blocked"),
          nextDueAtMs: first("delayed"),
        };
        return { ready, blocked, delayed: count("delayed"), running: count("running"), ...times };
      });
    },
    readySince: (lane, atMs) =>
      inState(lane, "ready").filter((row) => turnOf(row)[1]! <= atMs).length,
    find: (id) => pool.select((row) => row.id === id).map(recordOf)[0],
    list: ({ state, lane, order, limit, cursor }) => {
      // A cursor is a place in the order, not a job: that may be gone by the next page.
      const keyOf = (row: Row) => order === undefined ? [row.number] : endOf(row);
      const after = cursor?.split("/").map(Number) ?? [-Infinity];
      const rows = pool.select((row) =>
        row.state === (state ?? row.state) && row.lane === (lane ?? row.lane) &&
        compare(keyOf(row), after) > 0
      ).sort((a, b) => compare(keyOf(a), keyOf(b)));
      const page = rows.slice(0, limit);
      const end = rows.length > limit ? keyOf(page.at(-1)!).join("/") : undefined;
      return { jobs: page.map(recordOf), cursor: end };
    },
    change: (id, change, nowMs) => {
      pool.advance(self, nowMs);
      const [row] = pool.select((row) => row.id === id);
      const refused = { ok: false, state: row?.state } as const;
      if (row === undefined || (change === "cancel") === isEnded(row)) return refused;
      if (change === "remove") {
        row.isForgotten = true;
        return { ok: true, state: "removed" };
      }
      if (change === "cancel" && row.state === "running") {
        row.isCancelled = true;
        row.holder?.options.listener.cancelled(id);
      } else if (change === "cancel") pool.end(row, "cancelled", nowMs, {});
      else if (row.state !== "dead" || pool.ownerOf(row.entry, nowMs, row)) return refused;
      else {
        const times = { dueAtMs: nowMs, readyAtMs: undefined, firstReadyAtMs: undefined };
        const anew = { ...times, attempt: 0, place: next(), endedAtMs: undefined };
        Object.assign(row, { ...anew, state: "ready", reason: undefined });
      }
      changed(nowMs);
      return { ok: true, state: row.state };
    },
    outcome: async ({ id }) => {
      const [row] = pool.select((row) => row.id === id);
      if (row === undefined) return { state: "unfinished" };
      if (isEnded(row)) return outcomeOf(row);
      return await new Promise((resolve) => {
        self.waiting.set(id, [...self.waiting.get(id) ?? [], resolve]);
      });
    },
    leave: (nowMs) => {
      for (const row of pool.select(({ holder }) => holder === self)) {
        row.attempt--; // it had no chance to end
        pool.release(row, nowMs, {});
      }
      pool.members.delete(self);
      for (const tell of [...self.waiting.values()].flat()) tell({ state: "unfinished" });
      changed(nowMs);
    },
  };
}

function isWaiting({ state }: Row): boolean {
  return state === "delayed" || state === "ready" || state === "blocked";
}

function isEnded(row: Row): boolean {
  return !isWaiting(row) && row.state !== "running";
}

/** Ready before blocked, then by when it became claimable. */
function turnOf(row: Row | undefined): readonly number[] {
  if (row === undefined) return [];
  const { state, dueAtMs, readyAtMs = dueAtMs, place } = row;
  return state === "ready" ? [0, readyAtMs, place] : [1, dueAtMs, place];
}

/** What ended last comes first, what has not ended last. */
function endOf({ endedAtMs = -1, number }: Row): readonly number[] {
  return [-endedAtMs, -number];
}

function compare(a: readonly number[], b: readonly number[]): number {
  const place = a.findIndex((value, index) => value !== b[index]);
  return place < 0 ? 0 : a[place]! - b[place]!;
}

function recordOf({ entry: _, holder: __, place: ___, ...record }: Row): JobRecord {
  return record;
}

function outcomeOf({ state, result, resultError, reason, error }: Row): Outcome {
  if (state === "dead") return { state, reason, error };
  if (state !== "done") return { state: "cancelled" };
  return resultError === undefined ? { state, result } : { state, result, resultError };
}
