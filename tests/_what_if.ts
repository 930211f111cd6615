/**
 * The thread that plays "What if?", warmed up for tests.
 *
 * @module
 */

/**
 * Starts the thread once and waits for its answer, however long that takes: `deno test` checks the types
 * of its modules at its first start, which on a busy machine takes longer than a question may.
 */
export async function warmWorker(): Promise<void> {
  const url = new URL("../src/simulate/what_if_worker.ts", import.meta.url);
  const worker = new Worker(url, { type: "module" });
  const { promise, resolve } = Promise.withResolvers<void>();
  worker.onmessage = () => resolve();
  worker.onerror = (event) => {
    event.preventDefault();
    resolve();
  };
  worker.postMessage({ config: {}, question: {} });
  await promise;
  worker.terminate();
}
