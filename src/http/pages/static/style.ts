/** The stylesheet of every page. The colours, in light and in dark, pass WCAG AA on each other. */
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
  }
}
:root {
  --space-1: .25rem; --space-2: .5rem; --space-3: .75rem; --space-4: 1rem; --space-5: 1.5rem; --space-6: 2.5rem;
  --small: .875rem; --large: 1.125rem; --title: 1.625rem;
  --round: .5rem;
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
p, ul, ol, dl, dd, blockquote, pre { margin: 0 }
ul, ol { padding: 0; list-style: none }
a { color: var(--accent); text-underline-offset: .15em }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px }
main:focus { outline: none }
p code:not(:only-child) { white-space: nowrap }
code, pre { font: var(--small)/1.5 ui-monospace, monospace }
.unseen, .past:not(:focus) {
  position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap;
}
[hidden] { display: none }
/* No line ends within a date. */
time { display: inline-block }
:is(a, td, th) time { display: inline }
.soft { color: var(--soft) }

.skip { position: absolute; left: var(--space-4); top: -4rem; z-index: 1; padding: var(--space-2) var(--space-4);
  background: var(--card); border-radius: 0 0 var(--round) var(--round) }
.skip:focus { top: 0 }

.top, .bottom, main { width: 100%; max-width: 74rem; margin-inline: auto; padding-inline: var(--space-4) }
.top { display: flex; flex-wrap: wrap; align-items: center; gap: 0 var(--space-5); padding-block: var(--space-3) }
.brand { color: var(--ink); font-weight: 700; font-size: var(--large); text-decoration: none; padding-block: var(--space-2) }
.top ul { display: flex; flex-wrap: wrap; gap: 0 var(--space-1); margin-inline-start: calc(-1 * var(--space-3)) }
.top li a { display: block; padding: var(--space-2) var(--space-3); border-radius: var(--round);
  color: var(--soft); text-decoration: none }
.search { display: flex; gap: var(--space-2); flex: 1 1 16rem; max-width: 26rem; margin-inline-start: auto; padding-block: var(--space-1) }
.search .button { flex: none }
::placeholder { color: var(--soft); opacity: 1 }
.top li a:hover { color: var(--ink); background: var(--idle-back) }
.top li a[aria-current] { color: var(--ink); font-weight: 600; box-shadow: inset 0 -2px var(--accent); border-radius: 0 }
main { flex: 1; display: flex; flex-direction: column; gap: var(--space-5); padding-block: var(--space-4) var(--space-6) }
main.sign-in { max-width: 28rem; justify-content: center }
.bottom, .bottom ul { align-items: center }
.bottom { display: flex; flex-wrap: wrap; justify-content: space-between; gap: var(--space-2) var(--space-5);
  width: calc(100% - 2 * var(--space-4)); max-width: 72rem; padding-inline: 0; padding-block: var(--space-4); border-top: 1px solid var(--line); color: var(--soft); font-size: var(--small) }
.bottom ul { display: flex; flex-wrap: wrap; gap: var(--space-2) var(--space-4) }
.bottom .button { white-space: nowrap }
.title { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space-2) var(--space-3) }

/* The nights of the overview: the words of one stand below all of them, where no edge of the window cuts them. */
.nights { position: relative; display: flex; flex-direction: column; gap: var(--space-1); color: var(--soft); font-size: var(--small) }
.nights .ends { display: flex; justify-content: space-between; gap: var(--space-4) }
.ends > :last-child { text-align: end }
.key { display: flex; flex-wrap: wrap; align-content: flex-start; gap: 0 var(--space-4) }
.key .sign { color: var(--tone) }
.nights:has(li > :hover, li > :focus) .key { visibility: hidden }
.bars { position: relative }
.bars ol { display: grid; grid-auto-flow: column; grid-auto-columns: minmax(0, 1fr) }
.bars li { --back: none }
.bars li > * { display: flex; flex-direction: column; color: var(--tone); text-align: center; text-decoration: none }
.bars li > :hover { background: var(--idle-back) }
.bars svg { display: block; width: 100%; height: 8rem; stroke-width: 2; overflow: visible }
.bars li svg { border-bottom: 1px solid var(--line); stroke: currentColor }
.bars rect { stroke: none }
.bars .cut { stroke: var(--card) }
.bars .line { position: absolute; inset: 0; fill: none; stroke: var(--ink); pointer-events: none; filter: drop-shadow(0 0 1px var(--card)) drop-shadow(0 0 1px var(--card)) }
.bars .tip { position: absolute; inset-inline: 0; top: calc(100% + 1.5625rem); color: var(--ink); text-align: start; opacity: 0; pointer-events: none }
.bars li > :hover .tip, .bars li > :focus .tip { opacity: 1; background: var(--card) }
.nights .small { display: none }
@media (max-width: 40rem) {
  .nights .small { display: block }
  .nights .ends { min-height: 2.625rem }
  .bars .tip { top: calc(100% + 3.125rem) }
  .nights .wide, .bars li:not(:nth-last-child(-n+14)) { display: none }
}

/* Cards, badges, tables and forms. */
.card { display: flex; flex-direction: column; gap: var(--space-4); padding: var(--space-5);
  background: var(--card); border: 1px solid var(--line); border-radius: var(--round); min-width: 0 }
.head { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: var(--space-2) var(--space-4) }
.head .fields { flex: 1 1 24rem }
.pair { display: grid; gap: var(--space-5); grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); align-items: start }
.stack { display: flex; flex-direction: column; gap: var(--space-5) }
.row { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space-2) var(--space-3) }
.row:has(> label) { align-items: flex-end }
.lead { font-size: var(--large) }

.badge, .notice { --tone: var(--idle); --back: var(--idle-back) }
.good { --tone: var(--good); --back: var(--good-back) }
.warn { --tone: var(--warn); --back: var(--warn-back) }
.bad { --tone: var(--bad); --back: var(--bad-back) }
.info { --tone: var(--info); --back: var(--info-back) }
.idle { --tone: var(--idle); --back: var(--idle-back) }
.badge { display: inline-flex; align-items: center; gap: .375em; padding: .0625rem .5rem; border-radius: 1rem;
  background: var(--back); color: var(--tone); font-size: var(--small); font-weight: 600; white-space: nowrap }
.sign { font-weight: 700 }
[data-waits]:empty { display: none }
.notice { padding: var(--space-3) var(--space-4); border-radius: var(--round); background: var(--back); color: var(--tone) }

.verdict { flex-direction: row; align-items: flex-start; gap: var(--space-4) }
.verdict > .sign { flex: none; display: grid; place-items: center; width: 2.75rem; height: 2.75rem; border-radius: 50%;
  background: var(--back); color: var(--tone); font-size: 1.375rem }
.verdict > div { display: flex; flex-direction: column; gap: var(--space-2); min-width: 0 }
.verdict h2 { font-size: 1.375rem }
.needs { display: flex; flex-direction: column }
.needs li { display: flex; gap: var(--space-3); padding-block: var(--space-2) }
.needs li + li { border-top: 1px solid var(--line) }
.needs .sign { flex: none; display: grid; place-items: center; width: 1.5rem; height: 1.5rem; border-radius: 50%;
  background: var(--back); color: var(--tone); font-size: var(--small) }

.facts { display: grid; gap: var(--space-2) var(--space-5); grid-template-columns: repeat(auto-fit, minmax(min(100%, 10rem), 1fr)) }
.facts dt { color: var(--soft); font-size: var(--small) }
.facts > .long, .facts > :has(.words) { grid-column: 1 / -1 }
.facts dd { font-variant-numeric: tabular-nums }

/* A shadow at an edge where a table is cut off. At the end of the table, the card's colour hides it. */
.scroller { position: relative; overflow-x: auto; margin-inline: calc(-1 * var(--space-5)); padding-inline: var(--space-5);
  background: linear-gradient(to right, var(--card) 40%, transparent) 0 / 3rem 100% no-repeat local,
    linear-gradient(to left, var(--card) 40%, transparent) 100% / 3rem 100% no-repeat local,
    linear-gradient(to right, var(--field), transparent) 0 / .5rem 100% no-repeat,
    linear-gradient(to left, var(--field), transparent) 100% / .5rem 100% no-repeat }
table { width: 100%; border-collapse: collapse; font-size: var(--small); font-variant-numeric: tabular-nums }
caption { padding-bottom: var(--space-2); color: var(--soft); text-align: start }
th, td { padding: var(--space-2); border-bottom: 1px solid var(--line); text-align: start; vertical-align: baseline }
th:first-child, td:first-child { padding-inline-start: 0 }
th:last-child, td:last-child { padding-inline-end: 0 }
thead th { color: var(--soft); font-weight: 600; white-space: nowrap; vertical-align: bottom }
tbody th { font-weight: 600 }
th .soft { font-weight: 400 }
tbody tr:last-child > * { border-bottom: 0 }
.nowrap { white-space: nowrap }
.number { text-align: end; white-space: nowrap }
.id { min-width: 6rem; max-width: 26rem }
td .button { white-space: nowrap }
@media (max-width: 40rem) {
  table, caption, tbody, tbody th, td { display: block; max-width: none }
  thead, td:empty { display: none }
  tbody tr { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); column-gap: var(--space-4);
    padding-block: var(--space-2); border-bottom: 1px solid var(--line) }
  tr > :not(td.number) { grid-column: 1 / -1 }
  tbody tr:last-child { border-bottom: 0 }
  tbody th, td, td.number, th.number { padding: var(--space-1) 0; border: 0; text-align: start; white-space: normal; overflow-wrap: anywhere }
  td::before { content: attr(data-head) ": "; color: var(--soft) }
}

.button, button, input, select { font: inherit }
.button { display: inline-block; min-height: 2.375rem; padding: .4375rem .875rem; border: 1px solid transparent;
  border-radius: .375rem; font-size: var(--small); font-weight: 600; text-decoration: none; cursor: pointer }
.button.primary { background: var(--accent); color: var(--on-accent) }
.button.quiet { background: var(--card); border-color: var(--field); color: var(--ink) }
.button.danger { background: var(--bad); color: var(--card) }
.fields { display: flex; flex-wrap: wrap; align-items: flex-end; gap: var(--space-3) var(--space-4) }
.fields > div { display: flex; flex-direction: column; gap: var(--space-1); flex: 0 1 18rem; min-width: 0 }
label { font-weight: 600; font-size: var(--small) }
input, select { width: 100%; min-height: 2.375rem; padding: .375rem .625rem; border: 1px solid var(--field);
  border-radius: .375rem; background: var(--page); color: var(--ink) }
.pager { display: flex; gap: var(--space-3) }

progress { appearance: none; width: 100%; height: .75rem; border: 0; border-radius: 1rem; overflow: hidden; background: var(--idle-back) }
progress::-webkit-progress-bar { background: var(--idle-back) }
progress::-webkit-progress-value { background: var(--accent); border-radius: 1rem }
progress::-moz-progress-bar { background: var(--accent); border-radius: 1rem }

summary { width: fit-content; color: var(--accent); font-size: var(--small); cursor: pointer }
details[open] > summary { margin-bottom: var(--space-3) }

.words { padding-inline-start: var(--space-3); border-inline-start: 3px solid var(--line); white-space: pre-wrap }
ins { background: var(--good-back); color: var(--good); text-decoration: underline }
del { background: var(--bad-back); color: var(--bad); text-decoration: line-through }
.timeline { display: flex; flex-direction: column; margin-inline-start: var(--space-1); border-inline-start: 2px solid var(--line) }
.timeline li { position: relative; display: flex; flex-direction: column; gap: var(--space-1); padding: 0 0 var(--space-4) var(--space-4) }
.timeline time { color: var(--soft); font-size: var(--small) }
.check { display: flex; align-items: center; gap: var(--space-2); min-height: 2.375rem }
.check input { width: auto; min-height: 0 }

.held { display: flex; flex-direction: column; gap: var(--space-3); padding-top: var(--space-4); border-top: 1px solid var(--line) }
.sides { display: grid; gap: var(--space-4); grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)) }
.side { display: flex; flex-direction: column; gap: var(--space-2); padding: var(--space-4); border: 1px solid var(--line); border-radius: var(--round); min-width: 0 }
.side h4 { margin: 0; font-size: var(--small) }
.side li { display: flex; flex-wrap: wrap; gap: 0 var(--space-2); font-size: var(--small); padding-block: .125rem }
pre { padding: var(--space-3); border-radius: .375rem; background: var(--page); white-space: pre-wrap }
.record { min-width: 14rem; max-width: 34rem; max-height: 5.25rem; padding: var(--space-2); overflow: auto }
`
