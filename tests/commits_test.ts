import assert from "node:assert/strict";
import { ROOT } from "./_source.ts";

// Holds what CONTRIBUTING.md says of commits, for those after the one that brought this file.

const FORM =
  /^(feat|fix|perf|refactor|test|docs|build|chore|ci|bench|style|revert)(\([a-z0-9_, /-]+\))?: \S/;

/** Commits of these types change what there was: the text below the subject says why. */
const WANT_A_WHY = /^(fix|perf|refactor)\b/;

/** What `git log` prints in its column of 80. */
const LONGEST_SUBJECT = 72;

/** Lines such as `Co-authored-by: …`: no why. */
const TRAILER = /^[A-Z][A-Za-z-]+: /;

interface Commit {
  readonly id: string;
  readonly subject: string;
  readonly body: string;
}

const since = await added("tests/commits_test.ts");
const skipped = since === undefined ? " (not checked: no git history here)" : "";

Deno.test({
  name: `commits have a subject of at most 72 characters and say why they mend${skipped}`,
  ignore: since === undefined,
  fn: async () => {
    const text = await git("log", "--no-merges", "--format=%h%x00%s%x00%b%x01", `${since}..HEAD`);
    const commits = text!.split("\x01").map((entry) => entry.trim()).filter((entry) => entry !== "")
      .map((entry) => {
        const [id = "", subject = "", body = ""] = entry.split("\0");
        return { id, subject, body };
      });

    assert.deepEqual(commits.flatMap(faultsIn), []);
  },
});

Deno.test("faultsIn() finds what is planted", () => {
  const faults = (subject: string, body = "") => faultsIn({ id: "1a", subject, body });

  assert.deepEqual(faults("feat(cap): add stabilize"), []);
  assert.deepEqual(faults("fix: one job", "It was lost."), []);
  assert.deepEqual(faults("test: nothing", "Signed-off-by: me"), []);
  assert.deepEqual(faults(`docs: ${"x".repeat(67)}`), ["1a: 73 characters of 72"]);
  assert.deepEqual(faults("Add stabilize"), ['1a: not "type(scope): text": Add stabilize']);
  for (const subject of ["fix(admin): x", "perf: x", "refactor(a, b): x"]) {
    assert.deepEqual(faults(subject), [`1a: no body says why: ${subject}`]);
    assert.deepEqual(faults(subject, "Reviewed-by: me\n"), [`1a: no body says why: ${subject}`]);
  }
});

function faultsIn({ id, subject, body }: Commit): readonly string[] {
  const faults: string[] = [];
  if (subject.length > LONGEST_SUBJECT) {
    faults.push(`${id}: ${subject.length} characters of ${LONGEST_SUBJECT}`);
  }
  if (!FORM.test(subject)) faults.push(`${id}: not "type(scope): text": ${subject}`);
  const says = body.split("\n").some((line) => line.trim() !== "" && !TRAILER.test(line));
  if (WANT_A_WHY.test(subject) && !says) faults.push(`${id}: no body says why: ${subject}`);
  return faults;
}

/** The commit that added this file. `HEAD`: none yet. `undefined`: no history of this folder. */
async function added(path: string): Promise<string | undefined> {
  const top = await git("rev-parse", "--show-cdup");
  if (top?.trim() !== "") return;
  const id = await git("log", "--diff-filter=A", "--format=%H", "-1", "HEAD", "--", path);
  return id?.trim() || "HEAD";
}

/** What git prints. `undefined`: it is not there, or refuses. */
async function git(...args: readonly string[]): Promise<string | undefined> {
  try {
    const cwd = new URL(ROOT).pathname;
    const { success, stdout } = await new Deno.Command("git", { args: [...args], cwd }).output();
    return success ? new TextDecoder().decode(stdout) : undefined;
  } catch {
    return;
  }
}
