/**
 * `sluice completions`: what a shell needs to complete verbs, options, and names of pools and lanes.
 *
 * @module
 */

import { Argument, type Command } from "commander";
import { namesAfter, takesNames } from "./completion_names.ts";
import { json, line, whole } from "./print.ts";
import { type Tools, withJson } from "./verb.ts";

/** What may stand next. */
interface Word {
  readonly text: string;
  readonly about: string;
}

/** A verb, with what may stand after it. */
interface Verb {
  /** Words to it: empty for `sluice` itself, `pools ls`. */
  readonly path: string;
  /** Verbs below it, then options. */
  readonly words: readonly Word[];
  /** True if verbs stand below it: then nothing else may follow. */
  readonly branches: boolean;
  /** True if names of pools or lanes may follow: the script asks for them. */
  readonly names: boolean;
}

const SHELLS: Readonly<Record<string, (verbs: readonly Verb[]) => string>> = { bash, zsh, fish };

interface CompletionOptions {
  readonly json?: boolean;
}

/** Adds the verb. */
export function addCompletions(program: Command, { io }: Tools): void {
  withJson(program.command("completions").description("print what a shell completes verbs from"))
    .addArgument(new Argument("<shell>", "which shell").choices(Object.keys(SHELLS)))
    .argument("[words...]", "after --: print the pools or lanes that may stand after these words")
    .action(async (shell: string, words: readonly string[], options: CompletionOptions) => {
      if (words.length > 0) {
        const names = await namesAfter(io, program, words);
        if (options.json) return json(io, names);
        for (const name of names) line(io, name);
        return;
      }
      const script = SHELLS[shell]?.(verbsOf(program, [])) ?? "";
      if (options.json) return json(io, { shell, script });
      whole(io, script);
    });
}

function verbsOf(command: Command, path: readonly string[]): readonly Verb[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  const words = [
    ...below.map((verb) => ({ text: verb.name(), about: verb.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((text) => ({ text, about: description }))
    ),
    ...help.visibleOptions(command).map((option) => ({
      text: option.long ?? option.short ?? "",
      about: option.description,
    })),
  ];
  return [
    { path: path.join(" "), words, branches: below.length > 0, names: takesNames(command) },
    ...command.commands.flatMap((verb) => verbsOf(verb, [...path, verb.name()])),
  ];
}

/** Paths to the verbs that names may follow, as bash and zsh list them. */
function named(verbs: readonly Verb[]): string {
  return verbs.filter(({ names }) => names).map(({ path }) => `"${path}"`).join("|");
}

/** Each verb but the first, as the words so far and the next one. */
function steps(verbs: readonly Verb[]): readonly string[] {
  return verbs.filter(({ path }) => path !== "").map(({ path }) =>
    path.includes(" ") ? path : ` ${path}`
  );
}

function bash(verbs: readonly Verb[]): string {
  const known = steps(verbs).map((step) => `"${step}"`).join("|");
  const cases = verbs.map(({ path, words }) =>
    `    "${path}") found="${words.map(({ text }) => text).join(" ")}" ;;`
  );
  return `# eval "$(sluice completions bash)"
_sluice() {
  local at="" word found="" current="\${COMP_WORDS[COMP_CWORD]}"
  local -a before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  for word in "\${before[@]}"; do
    case "$at $word" in
      ${known}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at" in
${cases.join("\n")}
  esac
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
    --lane|--pool) found="" ;;
  esac
  COMPREPLY=($(compgen -W "$found" -- "$current"))
  [[ $current == -* ]] && return
  case "$at" in
    ${named(verbs)})
      while IFS= read -r word; do
        [[ $word == "$current"* ]] && COMPREPLY+=("$(printf %q "$word")")
      done < <("\${COMP_WORDS[0]}" completions bash -- "\${before[@]}" 2>/dev/null) ;;
  esac
}
complete -o default -F _sluice sluice
`;
}

function zsh(verbs: readonly Verb[]): string {
  const known = steps(verbs).map((step) => `"${step}"`).join("|");
  const cases = verbs.map(({ path, words, branches }) => {
    const found = words.map(({ text, about }) => `'${text}:${quoted(about)}'`).join(" ");
    return `    ("${path}") found=(${found}) files=${branches ? 0 : 1} ;;`;
  });
  return `#compdef sluice
# source <(sluice completions zsh)
_sluice() {
  local at="" word files=0
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      (${known}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at" in
${cases.join("\n")}
  esac
  [[ \${words[CURRENT-1]} == --(lane|pool) ]] && found=()
  _describe -t commands sluice found
  case "$at" in
    (${named(verbs)})
      found=("\${(@f)$("\${words[1]}" completions zsh -- "\${(@Q)words[2,CURRENT-1]}" 2>/dev/null)}")
      compadd -- "\${(@)found:#}" && return ;;
  esac
  (( files )) && _files
}
compdef _sluice sluice
`;
}

function fish(verbs: readonly Verb[]): string {
  const known = steps(verbs).map((step) => `"${step}"`).join(" ");
  const lines = verbs.flatMap(({ path, words, branches, names }) => {
    const at = `complete -c sluice -n '__sluice_at "${path}"'${branches ? " -f" : ""}`;
    const asked = "(sluice completions fish -- (commandline -opc)[2..] 2>/dev/null)";
    return [
      ...words.map(({ text, about }) => `${at} -a '${text}' -d '${quoted(about, "\\'")}'`),
      ...(names ? [`${at} -a '${asked}'`] : []),
    ];
  });
  return `# sluice completions fish | source
function __sluice_at
  set -l at ""
  for word in (commandline -opc)[2..]
    switch "$at $word"
      case ${known}
        set at (string trim -- "$at $word")
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join("\n")}
`;
}

/** For single quotes. */
function quoted(text: string, quote = "'\\''"): string {
  return text.replaceAll("\\", "\\\\").replaceAll("'", quote).replaceAll(":", ";");
}
