import assert from "node:assert/strict";
import { checkWritable, writing } from "../../src/cli/write.ts";

/** Why it cannot be written, after what was thrown. */
async function why(thrown: unknown): Promise<string> {
  let message = "";
  await writing("the picture", () => Promise.reject(thrown)).catch((error) => {
    assert.equal(error.exitCode, 1);
    assert.equal(error.cause, thrown);
    message = error.message;
  });
  return message;
}

Deno.test("writing() says why a file cannot be written, and what to do", async () => {
  const { IsADirectory, NotCapable, NotFound, PermissionDenied } = Deno.errors;
  const told: readonly (readonly [unknown, string])[] = [
    [new NotFound("os error 2"), "its folder does not exist, create it first"],
    [new IsADirectory("os error 21"), "it is a folder: choose a file in it"],
    [new PermissionDenied("os error 13"), "permission denied"],
    [
      new NotCapable("Requires write access"),
      "Deno allows this command to write only below the current folder: choose a file there",
    ],
    [new Error("The disk is full"), "The disk is full"],
  ];

  for (const [thrown, text] of told) {
    assert.equal(await why(thrown), `Cannot write the picture: ${text}`);
  }
});

Deno.test("checkWritable() leaves what is in a file, and no file where none was", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [old, other] = [`${folder}/old`, `${folder}/other`];
    await Deno.writeTextFile(old, "stays");

    await checkWritable("the picture", old);
    await checkWritable("the picture", other);

    assert.equal(await Deno.readTextFile(old), "stays");
    assert.deepEqual((await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name), [
      "old",
    ]);
    await assert.rejects(
      checkWritable("the picture", folder),
      /it is a folder: choose a file in it$/,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
