/**
 * Examples below the help of each verb.
 *
 * @module
 */

import type { Command } from "commander";

/** By verb: command lines that do what is most often wanted of it. A test runs each. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "init": ["sluice init my", "sluice init mails --durable --http https://api.example.com/mails"],
  "check": [
    "sluice check pools.json --strict",
    "sluice check pools.json --against http://127.0.0.1:8787",
  ],
  "schema": ["sluice schema --out pools.schema.json"],
  "run": ["sluice run pools.json --watch"],
  "test-call": [`sluice test-call pools.json mail --payload '{"to":"ann"}'`],
  "reload": ["sluice reload --dry-run"],
  "simulate": [
    "sluice simulate pools.json load.json --html report.html",
    "sluice simulate pools.json load.json --compare other.json",
  ],
  "tune": ['sluice tune pools.json load.json --goal "urgent p99 < 1s" --out tuned.json'],
  "whatif": ["sluice whatif mail size.max=30", "sluice whatif mail lanes.urgent.targetWaitMs=100"],
  "record": ["sluice record mail --for 5m --out load.json"],
  "pools ls": ["sluice pools"],
  "pools describe": ["sluice pools describe mail"],
  "pools pause": ["sluice pools pause mail --lane batch"],
  "pools resume": ["sluice pools resume mail"],
  "pools close-breaker": ["sluice pools close-breaker mail"],
  "pools drain": ["sluice pools drain mail --deadline 30s --yes"],
  "pools scale": ["sluice pools scale mail --max 3 --for 30m", "sluice pools scale mail --clear"],
  "explain": ["sluice explain mail --limit 3"],
  "doctor": ["sluice doctor", "sluice doctor mail --md", "sluice doctor --store queue.db"],
  "enqueue": [
    `sluice enqueue mail --lane urgent --payload '{"to":"ann"}' --wait 10s`,
    "sluice enqueue mail - --lane batch < payloads.jsonl",
  ],
  "jobs ls": ["sluice jobs ls --state running", "sluice jobs ls mail --lane urgent --match ann"],
  "jobs count": ["sluice jobs count mail --state ready"],
  "jobs purge": ["sluice jobs purge mail --lane batch --yes"],
  "jobs show": ["sluice jobs show JOB"],
  "jobs cancel": ["sluice jobs cancel JOB --yes"],
  "jobs retry": ["sluice jobs retry JOB"],
  "dlq ls": ["sluice dlq ls mail --group", "sluice dlq ls mail --match timeout --limit 10"],
  "dlq show": ["sluice dlq show JOB"],
  "dlq retry": ["sluice dlq retry mail JOB", "sluice dlq retry mail --all --lane urgent"],
  "dlq discard": ['sluice dlq discard mail --all --group "no such user" --yes'],
  "operations ls": ["sluice operations"],
  "operations show": ["sluice operations show OPERATION"],
  "operations cancel": ["sluice operations cancel OPERATION"],
  "schedules ls": ["sluice schedules ls mail"],
  "schedules run": ["sluice schedules run mail SCHEDULE"],
  "schedules pause": ["sluice schedules pause mail SCHEDULE"],
  "schedules resume": ["sluice schedules resume mail SCHEDULE"],
  "events ls": ["sluice events --since 1h", "sluice events ls --kind audit --pool mail"],
  "events tail": ["sluice events tail --kind job-dead"],
  "plugins": ["sluice plugins", "sluice plugins --running"],
  "top": ["sluice top --every 5s", "sluice top --once"],
  "completions": ['eval "$(sluice completions bash)"'],
};

/** Adds to the help of each verb its examples. */
export function addExamples(command: Command, path: readonly string[] = []): void {
  const examples = EXAMPLES[path.join(" ")];
  if (examples !== undefined) {
    const title = examples.length === 1 ? "Example:" : "Examples:";
    command.addHelpText("after", ["", title, ...examples.map((text) => `  ${text}`)].join("\n"));
  }
  for (const verb of command.commands) addExamples(verb, [...path, verb.name()]);
}
