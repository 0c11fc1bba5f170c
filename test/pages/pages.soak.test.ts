import axe from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { edit } from '../../src/demo/changes.ts'
import { thingPath } from '../../src/http/pages/things/thing-link.tsx'
import type { RunningHttp } from '../../src/http/start-http.ts'
import { startWorker } from '../../src/worker/worker.ts'
import type { RunningWorker } from '../../src/worker/worker.ts'
import { openLive } from '../helpers/live.ts'
import type { Live, RunRow } from '../helpers/live.ts'
import { firstPlace } from '../helpers/places.ts'
import { serveApp, TOKEN } from '../http/served.ts'
import { MISSING } from '../soak/needs.ts'
import { openBrowser } from './browser.ts'
import { HOSTILE, hostileComments, importHostilePlace, putHostileUser } from './hostile.ts'

const WAIT_MS = 120_000

/** The windows in which each page is tested. */
const SIGHTS = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'light', width: 390 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'dark', width: 390 },
] as const satisfies readonly Sight[]
const NARROWEST_PX = 360
const HEIGHT_PX = 900

describe.skipIf(MISSING.includes('Chromium'))('the pages in a browser', () => {
  let live: Live
  let http: RunningHttp
  let worker: RunningWorker
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let nightly: RunRow
  let first: string
  let failing: string
  let held: string
  let edited: ReturnType<typeof firstCommentOf>
  const complaints: string[] = []

  beforeAll(async () => {
    // Two calls at a time, so that a run takes long enough to be watched.
    live = await openLive('postgres', { settings: { SYNC_CONCURRENCY: '2' } })
    ;[first, failing, held] = [...live.world.organizationIds()] as [string, string, string]
    putHostileUser(live, held)
    await live.importCatalog()
    await live.run()
    edited = firstCommentOf(live, failing)
    edit(live.world, edited, edited.commentId, { text: HOSTILE.commentText })
    await importHostilePlace(live)
    live.standIn.setFaults([
      hostileComments(first),
      { kind: 'empty-list', match: { organizationId: held, operation: 'users' } },
    ])
    nightly = await live.run({ trigger: 'schedule' })
    live.standIn.setFaults([])
    worker = await startWorker(await live.openApp(), jobs, { keepsSchedule: true })
    http = await serveApp(await live.openApp())
    browser = await openBrowser()
    context = await open({ width: 1280, colorScheme: 'light' })
    page = await context.newPage()
    listen(page)
  })
  afterAll(() => worker?.stop())

  test('a person signs in, and a wrong token is refused in a sentence', async () => {
    const visitor = await (await open({ width: 1280, colorScheme: 'light' })).newPage()
    expect((await visitor.goto(`${http.url}/runs`))?.status()).toBe(401)
    await visitor.getByLabel('Token').fill('not the token')
    await visitor.getByRole('button', { name: 'Sign in' }).click()
    await visitor.getByText('The token is wrong.').waitFor()
    expect(await faultsOf(visitor)).toEqual([])
    await visitor.context().close()

    await signIn(page, '/runs')
    expect(new URL(page.url()).pathname).toBe('/runs')
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
  })

  test('no page harms anybody, breaks its policy, scrolls sideways or has what axe finds wrong', async () => {
    const looking = await (await open({ width: 1280, colorScheme: 'light' })).newPage()
    listen(looking)
    await looking.goto(http.url)
    for (const sight of SIGHTS) {
      await check(looking, sight)
      expect(await faultsOf(looking), `sign-in ${nameOf(sight)}`).toEqual([])
    }
    await signIn(looking, '/')
    for (const [name, path] of Object.entries(await pathsOf())) {
      await looking.goto(http.url + path)
      expect(await looking.evaluate(() => 'harmed' in window), name).toBe(false)
      expect(await looking.locator('img').count(), name).toBe(0)
      for (const sight of SIGHTS) {
        const what = `${name} ${nameOf(sight)}`
        await check(looking, sight)
        await openDetails(looking)
        expect(await sidewaysPx(looking), what).toBe(0)
        expect(await faultsOf(looking), what).toEqual([])
      }
      await check(looking, { colorScheme: 'light', width: NARROWEST_PX })
      expect(await sidewaysPx(looking), `${name} on the narrowest phone`).toBe(0)
    }
    await looking.context().close()
    expect(complaints).toEqual([])
  })

  test('a sync of one organization is followed to its end without reloading', async () => {
    live.standIn.latencyMs = 500
    await page.goto(`${http.url}/organizations`)
    await page.getByRole('row', { name: first }).getByRole('button', { name: 'Sync now' }).click()
    await page.getByRole('button', { name: 'Sync now', exact: true }).click()
    await page.waitForURL(/\/runs\//)
    await page.evaluate(() => {
      const seen: number[] = []
      Object.assign(window, { seen })
      new MutationObserver(() => {
        const bar = document.querySelector('progress')
        if (bar !== null) seen.push(bar.value)
      }).observe(document.body, { attributes: true, childList: true, subtree: true })
    })
    expect(await faultsOf(page)).toEqual([])
    await statusIs('succeeded')
    live.standIn.latencyMs = 0
    const seen = await page.evaluate(() => (window as unknown as { seen: number[] }).seen)
    expect(new Set(seen).size).toBeGreaterThan(2)
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    expect(await page.locator('progress').count()).toBe(0)
    expect(await page.locator('[data-announce]').textContent()).toContain('The run is over')
    expect(await page.locator('[data-lost]').isHidden()).toBe(true)
  })

  test('a run that begins to wait says so without reloading, and no more when it goes on', async () => {
    live.standIn.latencyMs = 150
    await page.goto(`${http.url}/organizations`)
    await page.getByRole('row', { name: first }).getByRole('button', { name: 'Sync now' }).click()
    await page.getByRole('button', { name: 'Sync now', exact: true }).click()
    await page.waitForURL(/\/runs\//)
    live.standIn.setFaults([{ kind: 'too-many-requests', retryAfterSeconds: 12 }])
    const notice = page.getByText(/^Waiting since .* \(HTTP 429\)\. Next try at .* Gives up at /)
    await notice.waitFor()
    expect(await faultsOf(page)).toEqual([])
    live.standIn.setFaults([])
    live.standIn.latencyMs = 0
    await statusIs('succeeded')
    expect(await notice.count()).toBe(0)
    await page.getByText('Throttled by the service').waitFor()
  })

  test('the keyboard alone sets the schedule', async () => {
    await page.goto(`${http.url}/schedule`)
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await tabTo('Cron expression')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('15 3 * * *')
    await tabTo('Set the schedule')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Set the nightly schedule?' }).waitFor()
    await tabTo('Set the schedule')
    await page.keyboard.press('Enter')
    await page.getByText('The nightly schedule is set, for all workers.').waitFor()
    expect(await page.locator('dl code').textContent()).toBe('15 3 * * *')
  })

  test('a run can be followed without a script', async () => {
    const plain = await open({ width: 390, colorScheme: 'light', javaScriptEnabled: false })
    const still = await plain.newPage()
    await signIn(still, '/')
    live.standIn.latencyMs = 150
    await still.getByRole('button', { name: 'Sync everything now' }).click()
    await still.getByRole('button', { name: 'Sync everything now' }).click()
    await still.getByRole('link', { name: 'Refresh' }).click()
    await still.getByRole('button', { name: 'Cancel the run' }).click()
    await still.getByRole('button', { name: 'Cancel the run' }).click()
    await still.getByText('The cancellation was requested.').waitFor()
    live.standIn.latencyMs = 0
    await plain.close()
  })

  async function open(options: Sight & { javaScriptEnabled?: boolean }): Promise<BrowserContext> {
    const { width, ...others } = options
    const opened = await browser.newContext({
      viewport: { width, height: HEIGHT_PX },
      // Without the transition of colours, which lasts while axe looks.
      reducedMotion: 'reduce',
      ...others,
    })
    opened.setDefaultTimeout(WAIT_MS)
    return opened
  }

  function listen(to: Page): void {
    to.on('console', (message) => {
      // A page that says what cannot be done has a status of its own, which Chromium notes.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        complaints.push(message.text())
    })
    to.on('pageerror', (error) => complaints.push(String(error)))
    to.on('requestfailed', (request) => {
      if (request.resourceType() !== 'eventsource') complaints.push(request.url())
    })
  }

  async function signIn(visitor: Page, path: string): Promise<void> {
    await visitor.goto(http.url + path)
    await visitor.getByLabel('Token').fill(TOKEN)
    await visitor.getByRole('button', { name: 'Sign in' }).click()
    await visitor.getByRole('navigation', { name: 'Pages', exact: true }).waitFor()
  }

  function statusIs(status: string): Promise<void> {
    return page.locator('.title .badge', { hasText: status }).waitFor()
  }

  /** What the keyboard would act on now, by its label or words. */
  function focused(): Promise<string> {
    return page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null
      return (element?.labels?.[0]?.textContent ?? element?.textContent ?? '').trim()
    })
  }

  async function tabTo(words: string): Promise<void> {
    for (let presses = 0; presses < 40; presses += 1) {
      await page.keyboard.press('Tab')
      if ((await focused()) === words) return
    }
    throw new Error(`The keyboard does not reach ${words}.`)
  }

  /** Every page, with the questions before actions. */
  async function pathsOf(): Promise<Record<string, string>> {
    const waiting = await live.database.pool.query(
      'select held_id, run_id from sync.held where resolved_at is null limit 1',
    )
    const { held_id: heldId, run_id: runId } = waiting.rows[0]
    const organization = encodeURIComponent(HOSTILE.organizationId)
    return {
      overview: '/?done=schedule-set',
      runs: '/runs',
      run: `/runs/${nightly.run_id}`,
      changes: `/runs/${nightly.run_id}/changes`,
      organizations: '/organizations',
      search: '/search?q=doc',
      thing: thingPath(HOSTILE),
      organization: thingPath({ organizationId: first }),
      document: thingPath({ organizationId: first, documentId: 'doc-0' }),
      userGroup: thingPath({ organizationId: first, organizationUserGroupId: 'group-0' }),
      user: thingPath({ organizationId: held, userId: 'hostile-user' }),
      comment: thingPath(edited),
      held: '/held',
      heldUsers: `/held/${heldId}`,
      schedule: '/schedule',
      workers: '/workers',
      notifications: '/notifications',
      tokens: '/tokens',
      history: '/history',
      sync: `/actions/sync?organizationId=${organization}`,
      retry: `/actions/retry?run=${nightly.run_id}`,
      accept: `/actions/accept?held=${heldId}&run=${runId}`,
      remove: '/actions/remove-schedule',
      wrong: '/actions/set-schedule?cron=x&timeZone=UTC',
      noRun: '/runs/none',
      nothing: '/none',
    }
  }
})

function firstCommentOf({ world }: Live, organizationId: string) {
  const place = firstPlace(world, organizationId)
  return { ...place, commentId: world.comments(place)?.[0]?.commentId ?? 0 }
}

interface Sight {
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
}

function nameOf({ colorScheme, width }: Sight): string {
  return `${colorScheme}-${width}`
}

/** Shows an open page as somebody else sees it. */
async function check(page: Page, { colorScheme, width }: Sight): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.setViewportSize({ width, height: HEIGHT_PX })
}

/** Shows the tables beneath the charts. */
async function openDetails(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true
  })
}

/** What axe-core finds against WCAG and best practice, as rule and place. */
async function faultsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() =>
    (window as unknown as { axe: typeof axe }).axe.run(document, {
      resultTypes: ['violations'],
      preload: false,
    }),
  )
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

function sidewaysPx(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return scrollWidth - clientWidth
  })
}
