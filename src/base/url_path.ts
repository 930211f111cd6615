/**
 * Paths that others put before ours.
 *
 * @module
 */

/** A path such as `/queue` or `/ops/queue/`, or none. None that a browser would take for a host. */
export const URL_PATH = /^((\/[\w.~-]+)+\/?)?$/;
