/**
 * Fields of JSON values, by name.
 *
 * @module
 */

/** A field of the payload: `payload`, or `payload.order.id`. */
export const PAYLOAD_FIELD = /^payload(\.[^.\s{}]+)*$/;

/** Own members only: what every object has is no field. `undefined`: there is none. */
export function fieldOf(from: unknown, field: string): unknown {
  return field.split(".").reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? (value as Readonly<Record<string, unknown>>)[name]
        : undefined,
    from,
  );
}
