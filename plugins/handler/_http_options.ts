/**
 * What the options of `http` may be.
 *
 * @module
 */

import * as v from "valibot";
import { mismatchesIn } from "./_combinations.ts";
import { endpointOf } from "./_endpoint.ts";
import { PAYLOAD_FIELD } from "./_fields.ts";
import { isSecret } from "./_sign.ts";
import { isTemplate } from "./_template.ts";

/** Longest delay a platform timer takes, ms. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** The request sets these by itself. */
const OWN_HEADERS = /^(host|connection|content-length|transfer-encoding)$/i;

const From = v.pipe(
  v.string(),
  v.regex(PAYLOAD_FIELD, 'Expected a field of the payload such as "payload.url"'),
);

const Method = v.picklist(["POST", "PUT", "PATCH", "GET", "DELETE"]);

const Url = v.pipe(
  v.string(),
  v.url('Expected a URL such as "https://example.com/hook"'),
  v.regex(/^https?:\/\//, 'Expected a URL that begins with "http://" or "https://"'),
);

/** The text of a header. */
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const Pattern = v.pipe(
  v.string(),
  v.check(
    (pattern) => endpointOf(pattern) !== undefined,
    'Expected where to, without a path, such as "https://example.com" or "https://*.example.com"',
  ),
);

const Headers = v.record(
  v.pipe(
    v.string(),
    v.regex(/^[\w!#$%&'*+.^`|~-]+$/, "Expected a header name"),
    v.check(
      (name) => !OWN_HEADERS.test(name),
      "Expected a header that the request does not set itself",
    ),
  ),
  v.union([
    v.pipe(v.string(), v.regex(HEADER_VALUE, "Expected a header value in one line of Latin-1")),
    v.strictObject({ from: From }),
  ]),
);

const Status = v.union([
  v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599)),
  v.picklist(["2xx", "3xx", "4xx", "5xx"]),
]);

const Secret = v.pipe(
  v.string(),
  v.check(isSecret, 'Expected a secret: a text, or "whsec_" and Base64'),
);

const Each = v.strictObject({
  url: v.union([
    Url,
    v.strictObject({
      from: From,
      allow: v.pipe(v.array(Pattern), v.minLength(1)),
      privateAddresses: v.exactOptional(v.boolean(), false),
    }),
  ]),
  method: v.exactOptional(
    v.union([
      Method,
      v.strictObject({ from: From, allow: v.pipe(v.array(Method), v.minLength(1)) }),
    ]),
    "POST",
  ),
  headers: v.exactOptional(Headers, {}),
  body: v.exactOptional(
    v.pipe(
      v.unknown(),
      v.check(
        isTemplate,
        "Expected fields such as {{payload}}, {{payload.order.id}}, {{job.id}} or {{job.attempt}}",
      ),
    ),
  ),
  sign: v.exactOptional(
    v.strictObject({
      secret: v.exactOptional(Secret),
      secrets: v.exactOptional(v.record(Pattern, Secret)),
    }),
  ),
  timeoutMs: v.exactOptional(
    v.pipe(v.number(), v.minValue(1), v.maxValue(LONGEST_DELAY_MS)),
    10_000,
  ),
  success: v.exactOptional(v.pipe(v.array(Status), v.minLength(1)), ["2xx"]),
  retry: v.exactOptional(v.array(Status), ["5xx"]),
  keep: v.exactOptional(v.picklist(["body"])),
  downstream: v.exactOptional(v.pipe(v.string(), v.minLength(1))),
});

/** Options with defaults filled in. */
export type HttpSettings = v.InferOutput<typeof Each>;

/** The schema of the options. */
export const Options = v.pipe(
  Each,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const input = dataset.value;
    for (const { key, message } of mismatchesIn(input)) {
      addIssue({
        message,
        path: [{ type: "object", origin: "value", input, key, value: input[key] }],
      });
    }
  }),
);
