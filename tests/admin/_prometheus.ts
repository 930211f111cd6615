/**
 * A typed door to the parsers that hold metrics and rules to Prometheus: of its text, and of its queries.
 *
 * @module
 */

import { parser as promql } from "@prometheus-io/lezer-promql";
import parse from "parse-prometheus-text-format";

/** A metric with all its samples. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** Samples; of a histogram one, whose labels the parser leaves out. */
  readonly metrics: readonly {
    readonly value?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly buckets?: Readonly<Record<string, string>>;
  }[];
}

/** Reads Prometheus' text format. @throws {Error} If it is none. */
export function parseMetrics(text: string): readonly Family[] {
  return parse(text) as readonly Family[]; // the package has no types
}

/** Where a PromQL query is wrong; empty: it parses. */
export function faultsOfQuery(query: string): readonly string[] {
  const faults: string[] = [];
  promql.parse(query).iterate({
    enter: ({ type, from }) => {
      if (type.isError) faults.push(`${query.slice(0, from)}<HERE>${query.slice(from)}`);
    },
  });
  return faults;
}
