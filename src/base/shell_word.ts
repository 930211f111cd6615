/**
 * Words of command lines that people copy.
 *
 * @module
 */

/** A word of a command line, quoted where a shell would read more into it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
