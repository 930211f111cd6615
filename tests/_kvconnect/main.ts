/**
 * A KV Connect server on loopback, to try things by hand: `deno run -A tests/_kvconnect/main.ts [PORT] [FILE]`.
 *
 * @module
 */

import { startServer, TOKEN } from "./server.ts";

const [port = "4512", path = ":memory:"] = Deno.args;
const { url } = startServer({ port: Number(port), path });
const lines = [`KV Connect at ${url}`, `DENO_KV_ACCESS_TOKEN="${TOKEN}"`];
Deno.stdout.writeSync(new TextEncoder().encode(`${lines.join("\n")}\n`));
