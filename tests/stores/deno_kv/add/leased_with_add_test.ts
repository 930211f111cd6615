import assert from "node:assert/strict";
import type { Leased, Queue } from "../../../../src/contract/store.ts";
import { audit } from "../../../../stores/deno_kv/doctor/audit.ts";
import { type Members, withMembers } from "../_members.ts";
import { until } from "../_remote.ts";
import { entry, NOW, openQueue } from "../_store.ts";

/** A member that asks for jobs as soon as it may, beside two others. */
interface Scene extends Members {
  readonly queue: Queue;
  /** How many it asks for. */
  want: number;
  /** What it got. */
  readonly jobs: Leased[];
  /** Resolves once nothing is asked any more. */
  readonly idle: () => Promise<unknown>;
}

async function withAsking(
  test: (scene: Scene) => Promise<void>,
  { maxRunningPerKey = Infinity, attempts = 3 } = {},
): Promise<void> {
  const options = { lanes: [{ name: "a", maxRunningPerKey }], attempts: [attempts] };
  await withMembers(2, async (members) => {
    const jobs: Leased[] = [];
    let asked: Promise<unknown> = Promise.resolve();
    const adding = (): void => {
      const lease = async (): Promise<void> => {
        jobs.push(...await queue.lease([scene.want], NOW, [Math.max(0, scene.want - 1)]));
      };
      asked = Promise.all([asked, lease()]);
    };
    const listener = { adding, wake() {}, cancelled() {}, ended() {} };
    const queue = await openQueue(members.stores[0]!, { ...options, listener });
    await queue.lease([1], NOW); // its pool works
    await queue.renew(NOW);
    const scene: Scene = { ...members, queue, want: 10, jobs, idle: () => asked };
    await test(scene);
    const kv = await Deno.openKv(members.server.url);
    assert.deepEqual(await audit(kv, "p"), []);
    kv.close();
  }, options);
}

function payloads(jobs: readonly Leased[]): readonly unknown[] {
  return jobs.map(({ payload }) => payload);
}

Deno.test("jobs are leased by the commit that adds them though other members live, and wake none of them", async () => {
  await withAsking(async ({ queue, server, jobs, idle }) => {
    const before = { ...server.requests };
    const { wakes } = server;
    for (const payload of [1, 2, 3]) {
      await queue.add([entry({ payload }), entry({ payload: -payload })], NOW);
    }
    await idle();

    assert.deepEqual(payloads(jobs), [1, -1, 2, -2, 3, -3]);
    assert.equal(server.requests.atomic_write - before.atomic_write, 3);
    assert.equal(server.wakes - wakes, 0);
  });
});

Deno.test("what is added and not asked for is ready for all members, and wakes them", async () => {
  await withAsking(async (scene) => {
    scene.want = 2;
    await scene.queue.add([1, 2, 3].map((payload) => entry({ payload })), NOW);
    await scene.idle();
    const [, other] = scene.queues;
    await until(() => other!.counts![0]!.ready === 1);

    assert.deepEqual(payloads(scene.jobs), [1, 2]);
    assert.deepEqual(payloads(await other!.lease([5], NOW)), [3]);
  });
});

Deno.test("a job of a limited key is not leased with its add, nor is any while the member has older ones", async () => {
  await withAsking(async (scene) => {
    await scene.queue.add([entry({ key: "k" }), entry({ key: "k" })], NOW);
    await scene.idle();
    assert.deepEqual(scene.jobs, []);
    assert.equal((await scene.queue.lease([5], NOW)).length, 1); // the other waits for it
  }, { maxRunningPerKey: 1 });
  await withAsking(async (scene) => {
    scene.want = 0;
    for (let payload = 0; payload < 8; payload++) await scene.queue.add([entry({ payload })], NOW);
    scene.want = 1;
    await scene.queue.add([entry({ payload: 8 })], NOW);
    await scene.idle();

    assert.equal(scene.jobs.length, 1);
    assert.notEqual(scene.jobs[0]!.payload, 8);
  });
});

Deno.test("of a lane with one attempt only what starts at once is leased with its add", async () => {
  await withAsking(async ({ queue, jobs, idle }) => {
    await queue.add([1, 2, 3].map((payload) => entry({ payload })), NOW);
    await idle();

    assert.deepEqual(payloads(jobs), [1]);
  }, { attempts: 1 });
});

Deno.test("a member that was declared dead still adds jobs, and leases none with that", async () => {
  await withAsking(async (scene) => {
    const [other] = scene.queues;
    for (let ms = 0; ms <= 60_000; ms += 15_000) await other!.renew(NOW + ms, NOW + ms);
    const added = await scene.queue.add([entry({ payload: 1 })], NOW + 60_000);
    await scene.idle();

    assert.equal(added[0]!.error, undefined);
    assert.deepEqual(scene.jobs, []);
    await until(() => other!.counts![0]!.ready === 1);
  });
});
