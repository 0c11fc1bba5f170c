/**
 * Runs in the browser, on the page of a run under way: shows its progress as the server tells it, without reloading, and
 * puts the settled page in place of this one at its end. Only its own text gets there, so that it can use nothing from
 * outside of it.
 */
export function followRun(): void {
  const page = document.querySelector<HTMLElement>('[data-follow]')
  if (page === null) return
  const events = new EventSource(page.dataset['follow'] as string)
  const announcer = document.querySelector<HTMLElement>('[data-announce]')
  let announcedTenth = -1

  events.addEventListener('run', (event: MessageEvent<string>) => {
    const run = JSON.parse(event.data) as Record<string, unknown>
    show(run)
    if (run['finishedAt'] !== null) void finish()
  })
  events.addEventListener('end', () => void finish())

  function show(run: Record<string, unknown>): void {
    const number = (name: string) => Number(run[name] ?? 0)
    const done = ['scopesSucceeded', 'scopesFailed', 'scopesHeld', 'scopesSkipped']
      .map(number)
      .reduce((sum, scopes) => sum + scopes, 0)
    const inAll = Math.max(number('scopesExpected'), number('scopesPlanned'))
    const bar = document.querySelector('progress')
    if (bar !== null && inAll > 0) {
      bar.max = inAll
      bar.value = done
    }
    for (const place of document.querySelectorAll<HTMLElement>('[data-count]')) {
      const name = place.dataset['count'] as string
      const shown = name === 'done' ? done : name === 'inAll' ? inAll : number(name)
      place.textContent = shown.toLocaleString('en-US')
    }
    announce(done, inAll)
  }

  /** Not each change: a screen reader would never fall silent. */
  function announce(done: number, inAll: number): void {
    const tenth = inAll === 0 ? 0 : Math.floor((done / inAll) * 10)
    if (announcer === null || tenth === announcedTenth) return
    announcedTenth = tenth
    announcer.textContent = `${tenth * 10} percent of the run is done.`
  }

  async function finish(): Promise<void> {
    events.close()
    // Without what the address says of the action that led here: that is told already.
    const answer = await fetch(location.pathname, { headers: { accept: 'text/html' } })
    const settled = new DOMParser().parseFromString(await answer.text(), 'text/html')
    for (const part of ['.title', '[data-run]']) {
      const now = document.querySelector(part)
      const then = settled.querySelector(part)
      if (now !== null && then !== null) now.replaceWith(then)
    }
    const told = document.querySelector('[data-announce]')
    if (told !== null) told.textContent = 'The run is over; this page shows what became of it.'
  }
}
