/**
 * Runs in the browser, on the page of a run under way: shows its progress as the server tells it, without reloading, and
 * puts the settled page in place of this one at its end. Only its own text gets there, so that it can use nothing from
 * outside of it.
 */
export function followRun(): void {
  const page = document.querySelector<HTMLElement>('[data-follow]')
  if (page === null) return
  const address = page.dataset['follow'] as string
  const events = new EventSource(address)
  const announcer = document.querySelector<HTMLElement>('[data-announce]')
  let announcedTenth = -1
  let status = page.dataset['status']

  events.addEventListener('run', (event: MessageEvent<string>) => {
    const run = JSON.parse(event.data) as Record<string, unknown>
    if (run['finishedAt'] !== null) return void finish()
    show(run)
    if (run['status'] === status) return
    status = String(run['status'])
    void renew({ keepsFocus: true })
  })
  events.addEventListener('end', () => void finish())
  // A run that only waits sends no events.
  const waitsTimer = setInterval(() => void showWaits(), 5_000)
  // A connection that breaks is made again by itself; one that was refused is not.
  events.addEventListener('error', () => {
    if (events.readyState === EventSource.CLOSED) tellLost()
  })

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

  /** What the run waits for now. What cannot be read is read the next time. */
  async function showWaits(): Promise<void> {
    const run = await fetch(address.replace(/\/events$/, ''))
      .then((answer) => answer.json() as Promise<{ waiting?: { sentence: string }[] }>)
      .catch(() => null)
    const notices = run?.waiting?.map(({ sentence }) => {
      const notice = document.createElement('p')
      notice.className = 'notice'
      notice.textContent = sentence
      return notice
    })
    if (notices !== undefined) document.querySelector('[data-waits]')?.replaceChildren(...notices)
  }

  async function finish(): Promise<void> {
    clearInterval(waitsTimer)
    events.close()
    await renew({ keepsFocus: false })
    if (announcer !== null) announcer.textContent = 'The run is over: here is what became of it.'
  }

  /**
   * Puts the page as the server makes it now in place of this one, but for what stays the same.
   * @param options.keepsFocus leaves all as it is where the keyboard is on something that would go
   */
  async function renew({ keepsFocus }: { keepsFocus: boolean }): Promise<void> {
    try {
      // Without what the address says of the action that led here: that is reported already.
      const answer = await fetch(location.pathname, { headers: { accept: 'text/html' } })
      const made = new DOMParser().parseFromString(await answer.text(), 'text/html')
      if (made.querySelector('[data-run]') === null) return tellLost()
      const hasFocus = document.querySelector('[data-run]')?.contains(document.activeElement)
      if (hasFocus && keepsFocus) return
      for (const part of ['.title', '[data-run]']) {
        document.querySelector(part)?.replaceWith(made.querySelector(part) as Element)
      }
      // What the keyboard was on is gone: it goes on from the top of what took its place.
      if (hasFocus) document.querySelector<HTMLElement>('main')?.focus()
    } catch {
      tellLost()
    }
  }

  function tellLost(): void {
    const notice = document.querySelector<HTMLElement>('[data-lost]')
    if (notice !== null) notice.hidden = false
  }
}
