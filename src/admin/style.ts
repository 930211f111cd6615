/**
 * Style sheet of all pages. A string rather than a file, so that no way of importing text is needed.
 *
 * @module
 */

/** The style sheet. */
export const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1b1f24, #e6e8eb); --soft: light-dark(#57606a, #9aa4af);
  --line: light-dark(#d0d7de, #353c45); --ground: light-dark(#ffffff, #14181d); --card: light-dark(#f6f8fa, #1b2027);
  --bad: light-dark(#b3261e, #ff8f87); --good: light-dark(#1a6e36, #6fd08c); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem 1rem 3rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: baseline; justify-content: space-between; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 0; }
p { margin: .5rem 0; }
a { color: inherit; }
.soft { color: var(--soft); }
.pool { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin-top: 1rem; }
.head { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; }
.mark { border: 1px solid currentColor; border-radius: 1rem; padding: 0 .6rem; font-size: .85rem; color: var(--bad); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .6rem; border-top: 1px solid var(--line); white-space: nowrap; }
thead th { border-top: 0; color: var(--soft); font-weight: 500; font-size: .875rem; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
.late { color: var(--bad); font-weight: 600; }
.met { color: var(--good); }
h3 { font-size: 1rem; margin: 0; }
section > h2 { margin-top: 2rem; }
code, pre { font-family: ui-monospace, monospace; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: .5rem 0; }
dd { margin: 0; }
.row { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; margin: 0; padding: 0; }
.login { max-width: 24rem; margin-top: 1.5rem; }
label { display: block; font-weight: 600; }
input, button { font: inherit; color: inherit; padding: .5rem .75rem; border: 1px solid var(--soft); border-radius: .35rem; }
input { width: 100%; background: var(--ground); }
button { background: var(--card); cursor: pointer; }
pre { background: var(--ground); border: 1px solid var(--line); border-radius: .35rem; padding: .6rem; overflow-x: auto; font-size: .85rem; }
`.trimStart();
