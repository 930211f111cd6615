/**
 * Which addresses are of the public internet.
 *
 * @module
 */

import { BlockList, isIPv4 } from "node:net";

/** Networks of IPv4 that are private, local, for documentation, or for no single receiver (RFC 6890). */
const CLOSED: readonly (readonly [network: string, bits: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** Of IPv6 only this is public, and what is an address of IPv4 in its form. */
const OPEN_6: typeof CLOSED = [["2000::", 3], ["::ffff:0:0", 96]];

/** But not tunnels, which lead to other addresses, nor what is for documentation. */
const CLOSED_6: typeof CLOSED = [["2001::", 23], ["2001:db8::", 32], ["2002::", 16], [
  "3fff::",
  20,
]];

const closed = new BlockList();
for (const [network, bits] of CLOSED) closed.addSubnet(network, bits, "ipv4"); // and as IPv6 writes them
for (const [network, bits] of CLOSED_6) closed.addSubnet(network, bits, "ipv6");

const open6 = new BlockList();
for (const [network, bits] of OPEN_6) open6.addSubnet(network, bits, "ipv6");

/** True if an IP address, without brackets, is one of the public internet. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !closed.check(address, "ipv4");
  return open6.check(address, "ipv6") && !closed.check(address, "ipv6");
}
