// Reads tags as strictly as XML does.

const TAG = /<(\/?)([a-z][\w-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/y;

/** HTML elements that have no end. */
const VOID = ["meta"];

/** Elements that are open at the end. @throws {SyntaxError} At a tag that is none or ends another. */
export function openTags(text: string): readonly string[] {
  const open: string[] = [];
  const markup = text.replace(/^<!doctype html>/, "");
  for (let at = markup.indexOf("<"); at >= 0; at = markup.indexOf("<", at)) {
    TAG.lastIndex = at;
    const tag = TAG.exec(markup);
    if (tag === null) throw new SyntaxError(`No tag: ${markup.slice(at, at + 60)}`);
    const [all, end, name = "", , empty] = tag;
    at += all.length;
    if (end === "/") {
      const last = open.pop();
      if (last !== name) throw new SyntaxError(`</${name}> ends <${last}>`);
    } else if (empty !== "/" && !VOID.includes(name)) open.push(name);
  }
  return open;
}
