/**
 * Actions on pages: buttons that ask before they send something to the API.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import type { Child, FC } from "hono/jsx";

/** What an action is. */
export interface ActProps {
  /** HTTP method. @default {"POST"} */
  readonly method?: "POST" | "PUT" | "DELETE";
  /** Path below the app, such as `/api/pools/mail/pause`. */
  readonly path: string;
  /** Body, sent as JSON. */
  readonly body?: unknown;
  /** The question. */
  readonly ask: string;
  /** What comes of it. */
  readonly more?: string;
  /** Path below the app that counts the jobs that it is about. */
  readonly count?: string;
  /** The question once they are counted, `{n}` in place of their number. */
  readonly counted?: string;
  /** Path below the app of the page that lists them. */
  readonly list?: string;
  /** The same thing as a command line. */
  readonly cli?: string;
  /** What the button that does it says. @default {the text of this one} */
  readonly label?: string;
  /** What is said when it is done. */
  readonly done?: string;
  /** Path below the app to go to then. @default {stays} */
  readonly next?: string;
  /** True: it cannot be taken back. */
  readonly danger?: boolean;
  /** Name for screen readers where the text alone says too little: begin it with the text. */
  readonly name?: string;
  /** Text of the button. */
  readonly children?: Child;
}

/** A button that asks, then acts. It is shown only where scripts run. */
export function Act(props: ActProps): ReturnType<FC> {
  const { method = "POST", path, body, ask, more, cli, label, done, next, danger, name } = props;
  const { count, counted, list } = props;
  return (
    <button
      type="button"
      class={danger === true ? "small scripted danger" : "small scripted"}
      aria-label={name}
      aria-haspopup="dialog"
      data-act={method}
      data-path={path}
      data-body={body === undefined ? undefined : JSON.stringify(body)}
      data-ask={ask}
      data-more={more}
      data-count={count}
      data-counted={counted}
      data-list={list}
      data-cli={cli}
      data-label={label}
      data-done={done}
      data-next={next}
      data-danger={danger === true ? "on" : undefined}
    >
      {props.children}
    </button>
  );
}
