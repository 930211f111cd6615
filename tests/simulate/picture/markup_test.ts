import assert from "node:assert/strict";
import { markup } from "../../../src/simulate/picture/markup.ts";

Deno.test("markup escapes texts, and leaves markup as it is", () => {
  const name = `<b a="1" b='2'>&`;

  const { text } = markup`<p title="${name}">${markup`<i>${2}</i>`}</p>`;

  assert.equal(text, '<p title="&#60;b a=&#34;1&#34; b=&#39;2&#39;&#62;&#38;"><i>2</i></p>');
});

Deno.test("markup joins lists and leaves out what is undefined", () => {
  const items = ["a", "b"].map((name) => markup`<li>${name}</li>`);

  assert.equal(markup`<ul>${items}${undefined}</ul>`.text, "<ul><li>a</li><li>b</li></ul>");
});
