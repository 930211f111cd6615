/**
 * Who has which dedupe key or idempotency key.
 *
 * @module
 */

import type { Added, JobEntry } from "../../../src/contract/store.ts";
import { ChangeTransaction } from "../change/change_transaction.ts";
import type { QueueContext } from "../context.ts";
import { locate } from "../read/locate.ts";
import { answerOf, isTaken, type Name, namesOf, type Owner, ownerAt } from "./names.ts";

/** What `add` answers an entry without storing anything. `undefined`: its keys are free. */
export async function duplicateOf(
  context: QueueContext,
  entry: JobEntry,
  nowMs: number,
): Promise<Added | undefined> {
  for (const name of namesOf(entry)) {
    const { owner } = await ownerOf(context, name, nowMs);
    if (owner !== undefined) return answerOf(name, owner);
  }
}

/** The entry of a key, and who owns it for a job of that name. An owner that has expired is ended first. */
export async function ownerOf(
  context: QueueContext,
  name: Name,
  nowMs: number,
): Promise<{ readonly entry: Deno.KvEntryMaybe<Owner>; readonly owner: Owner | undefined }> {
  const entry = await context.db.get<Owner>(context.keys.of("i", name.key));
  const owner = ownerAt(entry.value);
  if (owner === undefined) return { entry, owner: undefined };
  const [id, expiresAtMs, , untilMs] = owner;
  if (untilMs !== undefined) {
    const isKnown = name.fingerprint !== undefined && untilMs > nowMs;
    return { entry, owner: isKnown || isTaken(owner, nowMs) ? owner : undefined };
  }
  if (expiresAtMs === 0 || expiresAtMs > nowMs) return { entry, owner };
  const found = await locate(context, id);
  if (found === undefined || "ended" in found) return { entry, owner: undefined };
  if (found.kind === "l") return { entry, owner };
  const transaction = new ChangeTransaction(context, nowMs);
  transaction.end(found, "expired");
  await transaction.commit(); // refused: others have ended it
  return await ownerOf(context, name, nowMs);
}
