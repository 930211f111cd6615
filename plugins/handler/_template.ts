/**
 * A body as the options describe it: JSON whose texts may name fields of the job.
 *
 * @module
 */

import type { Job } from "../../src/contract/job.ts";
import { fieldOf, PAYLOAD_FIELD } from "./_fields.ts";

/** A field within a text, such as `{{payload.order.id}}`. */
const PLACE = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** A text that is one field and nothing else. */
const ALONE = /^\{\{\s*([^{}]*?)\s*\}\}$/;

/** Fields of a job beside its payload. */
const JOB_FIELDS = ["id", "lane", "type", "key", "attempt", "createdAtMs"] as const;

/** True if all fields that its texts name are ones. */
export function isTemplate(template: unknown): boolean {
  if (typeof template === "object" && template !== null) {
    return Object.values(template).every(isTemplate);
  }
  if (typeof template !== "string") return true;
  return !template.replaceAll(PLACE, (place, name) => isField(name) ? "" : place).includes("{{");
}

function isField(name: string): boolean {
  return PAYLOAD_FIELD.test(name) || JOB_FIELDS.some((field) => name === `job.${field}`);
}

/**
 * Fills in the fields. A text that is one field becomes its value, of any kind: left out of an object if the
 * job has none. Within a text a value is written as it is if it is a text, else as JSON; none is written
 * as nothing. What a field holds is not read again.
 */
export function fill(template: unknown, job: Job): unknown {
  const { payload } = job;
  const fields = { payload, job: Object.fromEntries(JOB_FIELDS.map((name) => [name, job[name]])) };
  const text = (value: unknown): string =>
    typeof value === "string" ? value : JSON.stringify(value) ?? "";
  const filled = (here: unknown): unknown => {
    if (Array.isArray(here)) return here.map(filled);
    if (typeof here === "object" && here !== null) {
      return Object.fromEntries(Object.entries(here).map(([key, value]) => [key, filled(value)]));
    }
    if (typeof here !== "string") return here;
    const [, alone] = ALONE.exec(here) ?? [];
    if (alone !== undefined) return fieldOf(fields, alone);
    return here.replaceAll(PLACE, (_, name) => text(fieldOf(fields, name)));
  };
  return filled(template);
}

/** The texts of a template that name no field. */
export function constantsIn(template: unknown): readonly string[] {
  if (typeof template === "object" && template !== null) {
    return Object.values(template).flatMap(constantsIn);
  }
  return typeof template === "string" && !template.includes("{{") ? [template] : [];
}
