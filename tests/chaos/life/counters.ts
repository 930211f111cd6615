/**
 * Watches the counters of a Deno KV store. It corrects those that are wrong by itself, so that a count which
 * was not kept would show nowhere: where nothing is damaged none may have to be corrected.
 *
 * @module
 */

/** Tells of each counter that a handle sets: as a rule they are only added to. */
export function watchCounters(kv: Deno.Kv, tell: (what: string) => void): void {
  const atomic = kv.atomic.bind(kv);
  kv.atomic = () => {
    const mended: Deno.KvKey[] = [];
    const operation = atomic();
    const set = operation.set.bind(operation);
    const commit = operation.commit.bind(operation);
    operation.set = (key, value, options) => {
      if (key[3] === "c") mended.push(key);
      return set(key, value, options);
    };
    operation.commit = async () => {
      const answer = await commit();
      if (!answer.ok) return answer; // it had changed meanwhile, and was right
      for (const key of mended) {
        tell(`A counter was wrong and is mended: ${key.slice(3).join(" ")}`);
      }
      return answer;
    };
    return operation;
  };
}
