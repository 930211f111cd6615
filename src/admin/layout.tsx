/**
 * What all pages share: their headers and their frame.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { type Context, Hono } from "hono";
import { html } from "hono/html";
import type { Child, FC } from "hono/jsx";
import type { BlankEnv } from "hono/types";
import { STYLE } from "./style.ts";

/** Headers of every page: no script and no style but our own files, no frame, nothing kept. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // Not "no-referrer": with it a browser sends "Origin: null" with our own forms.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/**
 * Makes the routes of files that pages need. They are open to all: the login page needs them.
 *
 * @internal
 */
export function assetRoutes(): Hono<BlankEnv> {
  return new Hono().get("/style.css", (c) =>
    c.body(STYLE, 200, {
      ...PAGE_HEADERS,
      "cache-control": "max-age=300",
      "content-type": "text/css; charset=utf-8",
    }));
}

/** What a page is made of. */
export interface LayoutProps {
  /** Path that the app is mounted at. Empty: at the root. */
  readonly base: string;
  /** What the page is, before the product's name. */
  readonly title: string;
  /** Its content. */
  readonly children?: Child;
}

/** The frame of a page. */
export function Layout({ base, title, children }: LayoutProps): ReturnType<FC> {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title} - Sluice</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={`${base}/style.css`} />
      </head>
      <body>
        <header>
          <h1>{title}</h1>
        </header>
        <main>{children}</main>
      </body>
    </html>
  );
}

/** Answers with a page. */
export function answerPage(
  c: Context,
  page: ReturnType<FC>,
  status: 200 | 401 | 403 | 429 = 200,
  headers: Readonly<Record<string, string>> = {},
): Response | Promise<Response> {
  return c.html(html`<!DOCTYPE html>${page}`, status, { ...PAGE_HEADERS, ...headers });
}
