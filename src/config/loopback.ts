/**
 * Which addresses only this machine reaches.
 *
 * @module
 */

/** True for an IP address that only this machine reaches. Names are not resolved: they are not. */
export function isLoopback(address: string): boolean {
  const plain = address.toLowerCase().replace(/^\[|\]$/g, "").replace(/^::ffff:/, "");
  return plain === "::1" || /^127(\.\d{1,3}){3}$/.test(plain);
}
