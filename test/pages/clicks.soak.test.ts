import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { addComment, deleteComment, edit, joinGroup } from '../../src/demo/changes.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { RunningHttp } from '../../src/http/start-http.ts'
import { startWorker } from '../../src/worker/worker.ts'
import type { RunningWorker } from '../../src/worker/worker.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { firstPlace } from '../helpers/places.ts'
import { serveApp, TOKEN } from '../http/served.ts'
import { startReceiver } from '../notify/receiver-server.ts'
import { MISSING } from '../soak/needs.ts'
import { openBrowser } from './browser.ts'

const PERSON = { userId: 'user-of-clicks', name: 'Ada Lovelace', email: 'ada@example.com' }

describe.skipIf(MISSING.includes('Chromium')).each([1280, 390])(
  'the tasks of an operator from the overview, without a terminal, in a window of %i px',
  (width) => {
    let live: Live
    let http: RunningHttp
    let worker: RunningWorker
    let browser: Browser
    let page: Page
    let clicks = 0
    let place: Place
    let held: string
    let receiver: Awaited<ReturnType<typeof startReceiver>>
    let edited: number
    let deleted: number

    beforeAll(async () => {
      live = await openLive('postgres', { settings: { SYNC_CONCURRENCY: '2' } })
      const { world } = live
      const [organizationId = '', other = ''] = world.organizationIds()
      held = other
      place = firstPlace(world)
      world.putUser(organizationId, PERSON)
      joinGroup(world, organizationId, [...world.groupIds(organizationId)][0] ?? '', PERSON.userId)
      edited = addComment(world, place, { text: 'the old words', from: PERSON })
      deleted = addComment(world, place, { text: 'soon gone' })
      await live.importCatalog()
      const first = await live.run({ trigger: 'schedule' })
      await live.rows(
        `update sync.runs set requested_at = requested_at - interval '1 day' where run_id = $1`,
        first.run_id,
      )
      await live.rows(
        `insert into sync.nightly_due select now() - n * interval '1 day' from generate_series(0, 29) n`,
      )
      edit(world, place, edited, { text: 'the new words' })
      deleteComment(world, place, deleted)
      live.standIn.setFaults([
        { kind: 'empty-list', match: { organizationId: held, operation: 'users' } },
      ])
      await live.run({ trigger: 'schedule' })
      live.standIn.setFaults([])
      receiver = await startReceiver()
      const NOTIFY_URL = `slack+${receiver.url}/T0PSECRET`
      worker = await startWorker(await live.openApp(), jobs, { keepsSchedule: true })
      http = await serveApp(await live.openApp({ NOTIFY_URL }))
      browser = await openBrowser()
      page = await browser.newPage({ viewport: { width, height: 900 } })
      await page.goto(http.url)
      await page.getByLabel('Token').fill(TOKEN)
      await page.getByRole('button', { name: 'Sign in' }).click()
    })
    afterAll(() => worker?.stop())
    beforeEach(async () => {
      clicks = 0
      await page.goto(http.url)
    })

    test('what happened last night, and until when the data is complete', async () => {
      await main()
        .getByText(/^The last nightly run succeeded partially/)
        .waitFor()
      expect(await main().innerText()).toMatch(/The tables are complete up to 20\d\d-/)
      expect(clicks).toBe(0)
    })

    test('compare with the last nights', async () => {
      const bars = page.locator('.nights .bars a')
      expect(await bars.count()).toBe(2)
      await bars.last().focus()
      expect(await bars.last().innerText()).toMatch(/: partial in .*, \d+ calls/)
      await click(bars.last())
      await isAt(/^Run /)
      expect(clicks).toBe(1)
    })

    test('who would be removed, and refuse it', async () => {
      await click(page.getByRole('link', { name: /^Waiting/ }))
      await main().getByRole('link', { name: held }).first().waitFor()
      expect(await main().innerText()).toMatch(/user-/)
      await click(main().getByRole('button', { name: /^Refuse all/ }))
      await page.getByLabel('Reason').fill('a fault of theirs')
      await click(main().getByRole('button', { name: /^Keep/ }))
      await page.getByText('No removal is held.').waitFor()
      expect(clicks).toBe(3)
    })

    test('why is this comment here, and what changed', async () => {
      await find(`${place.annotationId}/${edited}`)
      await page.getByText('The last good response for its annotation contained it').waitFor()
      await page.getByText('Version 2: the text changed.').waitFor()
      expect(await page.locator('del').allInnerTexts()).toEqual([expect.stringContaining('old')])
      expect(await page.locator('ins').allInnerTexts()).toContainEqual(
        expect.stringContaining('new'),
      )
      expect(clicks).toBe(0)
    })

    test('why is that one gone', async () => {
      await find(`${place.annotationId}/${deleted}`)
      await page.getByText('The service returned null for its ID.').first().waitFor()
      await click(
        main()
          .getByRole('link', { name: /run [0-9a-f]{8}/ })
          .first(),
      )
      await isAt(/^Run /)
      expect(clicks).toBe(1)
    })

    test('who is that user, what did they write, and what would an erasure rewrite', async () => {
      await find('lovelace')
      await click(page.getByRole('link', { name: PERSON.name }).first())
      await isAt(`User ${PERSON.name}`)
      const row = page.getByRole('row', { name: /User group/ })
      expect(await row.locator('time').count()).toBe(1)
      await page.getByText(PERSON.email).first().waitFor()
      await main().getByRole('link', { name: 'the new words' }).waitFor()
      await main().getByText(`-- ${PERSON.userId}`).waitFor()
      expect(clicks).toBe(1)
    })

    test('which scopes of an organization fail, why, since when, and retry them', async () => {
      live.standIn.setFaults([{ kind: 'forbidden', match: { ...place, operation: 'comments' } }])
      await live.run()
      live.standIn.setFaults([])
      await page.reload()
      expect(await main().innerText()).toMatch(/Since 20\d\d-/)
      await click(main().getByRole('link', { name: place.organizationId, exact: true }))
      expect(await page.locator('#beneath tbody tr').first().innerText()).toContain('failing')
      await click(page.getByRole('button', { name: 'Retry what fails' }))
      await click(main().getByRole('button').first())
      await statusIs('succeeded')
      expect(clicks).toBe(3)
    })

    test('add a document and sync it', async () => {
      await click(page.getByRole('link', { name: 'Catalog' }))
      await click(main().getByRole('link', { name: place.organizationId, exact: true }))
      await page.getByLabel('ID of a new document').fill('doc-of-clicks')
      await click(page.getByRole('button', { name: 'Add the document' }))
      await click(main().getByRole('button').first())
      await isAt(/^Run /)
      const rows = await live.rows(`select scope from sync.runs order by requested_at desc limit 1`)
      expect(rows).toEqual([
        { scope: { organizationIds: [place.organizationId], documentId: 'doc-of-clicks' } },
      ])
      expect(clicks).toBe(4)
    })

    test('start a run of everything, and stop it', async () => {
      live.standIn.latencyMs = 1_000
      await click(page.getByRole('button', { name: 'Sync everything now' }))
      await click(main().getByRole('button', { name: 'Sync everything now' }))
      await isAt(/^Run /)
      await click(page.getByRole('button', { name: 'Cancel the run' }))
      await click(main().getByRole('button', { name: 'Cancel the run' }))
      await statusIs('cancelled')
      live.standIn.latencyMs = 0
      expect(clicks).toBe(4)
    })

    test('see the schedule and change it', async () => {
      await click(page.getByRole('link', { name: 'Schedule', exact: true }))
      await page.getByLabel('Cron expression').fill('30 3 * * *')
      await click(page.getByRole('button', { name: 'Set the schedule' }))
      expect(await main().innerText()).toMatch(/The next runs would start at .* 03:30:00Z/)
      await click(main().getByRole('button', { name: 'Set the schedule' }))
      await main().getByText('30 3 * * *').waitFor()
      expect(clicks).toBe(3)
    })

    test('give a token and withdraw it', async () => {
      await click(page.getByRole('link', { name: 'Tokens' }))
      await page.getByLabel('Name of its owner or purpose').fill('grafana')
      await click(page.getByRole('button', { name: 'Add the token' }))
      await main().getByText('cannot be shown again').waitFor()
      await click(main().getByRole('link', { name: 'Tokens' }))
      await click(page.getByRole('button', { name: 'Remove the token grafana' }))
      await click(main().getByRole('button', { name: 'Remove the token' }))
      await page.getByText('There are no tokens besides HTTP_TOKEN.').waitFor()
      expect(clicks).toBe(5)
    })

    test('slow the calls down, pause them, and go on', async () => {
      await page.getByLabel('Pace in calls per second').fill('5')
      await click(page.getByRole('button', { name: 'Set the pace' }))
      await click(main().getByRole('button', { name: 'Set the pace' }))
      await main().getByText('5 calls a second').waitFor()
      await page.getByLabel('Pause all calls for').selectOption('2 h')
      await click(page.getByRole('button', { name: 'Pause', exact: true }))
      await page.getByLabel('Reason').fill('the owner of the service said so')
      await click(main().getByRole('button', { name: 'Pause', exact: true }))
      await main().getByText('the owner of the service said so').first().waitFor()
      await click(page.getByRole('button', { name: 'End the pause' }))
      await click(main().getByRole('button', { name: 'End the pause' }))
      await main().getByText('not paused').waitFor()
      expect(clicks).toBe(6)
    })

    test('which settings a worker runs with, and where they come from', async () => {
      await click(page.getByRole('link', { name: 'Workers' }))
      const row = page.getByRole('row', { name: /SYNC_CONCURRENCY/ })
      expect(await row.innerText()).toMatch(/2\b[^]*environment/)
      expect(clicks).toBe(1)
    })

    test('where a message leads, and whether it arrives', async () => {
      await click(page.getByRole('link', { name: 'Notifications' }))
      await main()
        .getByText(`slack at ${new URL(receiver.url).host}`)
        .waitFor()
      await click(page.getByRole('button', { name: 'Send a test message to each' }))
      await main().getByText('accepted (HTTP 200)').waitFor()
      expect(receiver.received.map(({ text }) => text)).toContainEqual(
        expect.stringContaining('test message'),
      )
      expect(clicks).toBe(2)
    })

    function main(): Locator {
      return page.getByRole('main')
    }

    async function isAt(title: string | RegExp): Promise<void> {
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
    }

    async function statusIs(status: string): Promise<void> {
      await page.locator('.title .badge', { hasText: status }).waitFor()
    }

    /** Typing and the Enter key are no clicks. */
    async function find(text: string): Promise<void> {
      await page.getByRole('searchbox').fill(text)
      await page.keyboard.press('Enter')
    }

    async function click(target: Locator): Promise<void> {
      await target.click()
      clicks += 1
    }
  },
)
