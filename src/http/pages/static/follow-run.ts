/**
 * Runs in the browser, on the page of a run in progress. Each second it fetches the page and replaces the parts that
 * change, and everything when the run is over. The browser gets only the text of this function, so it cannot use anything
 * outside of it.
 */
export function followRun(): void {
  const announcer = document.querySelector<HTMLElement>('[data-announce]')
  let announcedTenth = 0
  void follow()

  async function follow(): Promise<void> {
    let isOver = false
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      // Without the query, whose notice is shown already.
      const made = await fetch(location.pathname, { headers: { accept: 'text/html' } })
        .then((response) => response.text())
        .then((html) => new DOMParser().parseFromString(html, 'text/html'))
        .catch(() => null)
      const run = made?.querySelector<HTMLElement>('[data-run]')
      const lost = document.querySelector<HTMLElement>('[data-lost]')
      if (lost !== null) lost.hidden = Boolean(run)
      if (!made || !run) continue
      isOver = run.dataset['run'] === 'over'
      // A notice is true for the state in which the page was opened.
      const [before, now] = [document, made].map((page) => page.querySelector('.badge'))
      if (before?.textContent !== now?.textContent)
        document.querySelector('.notice[role=status]')?.remove()
      replaceParts(made, isOver)
      announce(isOver)
    }
  }

  function replaceParts(made: Document, isOver: boolean): void {
    const selector = `.title, ${isOver ? '[data-run]' : '[data-live]'}`
    const parts = made.querySelectorAll(selector)
    for (const [place, shown] of document.querySelectorAll(selector).entries()) {
      const hasFocus = shown.contains(document.activeElement)
      if (hasFocus && !isOver) continue
      shown.replaceWith(parts[place] ?? '')
      // The focused element is gone: the keyboard continues at the top of what replaced it.
      if (hasFocus) document.querySelector<HTMLElement>('main')?.focus()
    }
  }

  /** Announces each tenth only, because a screen reader would otherwise never stop. */
  function announce(isOver: boolean): void {
    const bar = document.querySelector('progress')
    const tenth = bar === null ? 0 : Math.floor((bar.value / bar.max) * 10)
    if (announcer === null || (tenth === announcedTenth && !isOver)) return
    announcedTenth = tenth
    announcer.textContent = isOver
      ? 'The run is over. The page shows its results.'
      : `${tenth * 10} percent of the run is done.`
  }
}
