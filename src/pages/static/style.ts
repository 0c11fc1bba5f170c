import { PARTS_STYLE } from './parts-style.ts'

/** The stylesheet of every page: tokens, the frame of a page, and then its parts. Colours pass WCAG AA on each other. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #fff; --ink: #1b2430; --soft: #53606f; --line: #d5dae1; --field: #7b8794;
  --accent: #1d5fb8; --on-accent: #fff;
  --good: #14663a; --good-back: #e2f3e8;
  --warn: #774a00; --warn-back: #fcefd2;
  --bad: #a3231b; --bad-back: #fce9e7;
  --info: #1d4f91; --info-back: #e5eefa;
  --idle: #4a5563; --idle-back: #e8ebef;
  --chart-1: #2f74cc; --chart-2: #b06d00; --chart-3: #c0392b; --chart-4: #6a58b8;
  --space-1: .25rem; --space-2: .5rem; --space-3: .75rem; --space-4: 1rem; --space-5: 1.5rem; --space-6: 2.5rem;
  --small: .875rem; --large: 1.125rem; --title: 1.625rem;
  --round: .5rem;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1a2029; --ink: #e7ebf0; --soft: #a5b0bd; --line: #323c48; --field: #8090a2;
    --accent: #8ab8f5; --on-accent: #0d1b2e;
    --good: #8fdcab; --good-back: #163324;
    --warn: #f4c979; --warn-back: #3a2c10;
    --bad: #ffb4ab; --bad-back: #41211e;
    --info: #a9ccfa; --info-back: #1a2c45;
    --idle: #b8c2ce; --idle-back: #29323d;
    --chart-1: #6ea8f0; --chart-2: #d99b3a; --chart-3: #ef8377; --chart-4: #a89af0;
  }
}

* { box-sizing: border-box }
html { scroll-padding-top: var(--space-5) }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column;
  background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere;
}
h1, h2, h3 { margin: 0; line-height: 1.25; text-wrap: balance }
h1 { font-size: var(--title) }
h2 { font-size: var(--large) }
h3 { font-size: 1rem }
p, ul, ol, dl, dd, figure, pre { margin: 0 }
ul, ol { padding: 0; list-style: none }
a { color: var(--accent); text-underline-offset: .15em }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px }
main:focus { outline: none }
p code { white-space: nowrap }
code, pre { font: var(--small)/1.5 ui-monospace, monospace }
.unseen {
  position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap;
}
[hidden] { display: none }
.soft { color: var(--soft) }
.small { font-size: var(--small) }

.skip { position: absolute; left: var(--space-4); top: -4rem; z-index: 1; padding: var(--space-2) var(--space-4);
  background: var(--card); border-radius: 0 0 var(--round) var(--round) }
.skip:focus { top: 0 }

.top, .bottom, main { width: 100%; max-width: 74rem; margin-inline: auto; padding-inline: var(--space-4) }
.top { display: flex; flex-wrap: wrap; align-items: center; gap: 0 var(--space-5); padding-block: var(--space-3) }
.brand { color: var(--ink); font-weight: 700; font-size: var(--large); text-decoration: none; padding-block: var(--space-2) }
.top ul { display: flex; flex-wrap: wrap; gap: 0 var(--space-1); margin-inline-start: calc(-1 * var(--space-3)) }
.top li a { display: block; padding: var(--space-2) var(--space-3); border-radius: var(--round);
  color: var(--soft); text-decoration: none }
.top li a:hover { color: var(--ink); background: var(--idle-back) }
.top li a[aria-current] { color: var(--ink); font-weight: 600; box-shadow: inset 0 -2px var(--accent); border-radius: 0 }
main { flex: 1; display: flex; flex-direction: column; gap: var(--space-5); padding-block: var(--space-4) var(--space-6) }
.bottom { display: flex; flex-wrap: wrap; justify-content: space-between; gap: var(--space-2) var(--space-5);
  width: calc(100% - 2 * var(--space-4)); max-width: 72rem; padding-inline: 0; padding-block: var(--space-4); border-top: 1px solid var(--line); color: var(--soft); font-size: var(--small) }
.bottom ul { display: flex; gap: var(--space-4) }
.title { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space-2) var(--space-3) }
${PARTS_STYLE}
@media (prefers-reduced-motion: no-preference) {
  a, button, .button { transition: background-color .12s, color .12s }
}
@media print {
  .top nav, .bottom, .button, .skip { display: none }
  .card { break-inside: avoid }
  .scroller { overflow: visible }
}
`
