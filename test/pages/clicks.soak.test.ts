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
import { serveApp, TOKEN } from '../http/served.ts'
import { MISSING } from '../soak/needs.ts'
import { openBrowser } from './browser.ts'

const PERSON = { userId: 'user-of-clicks', name: 'Ada Lovelace', email: 'ada@example.com' }

describe.skipIf(MISSING.includes('Chromium'))(
  'questions from the overview, without a terminal',
  () => {
    let live: Live
    let http: RunningHttp
    let worker: RunningWorker
    let browser: Browser
    let page: Page
    let clicks = 0
    let place: Place
    let edited: number
    let deleted: number

    beforeAll(async () => {
      live = await openLive('postgres')
      const { world } = live
      const [organizationId = ''] = world.organizationIds()
      const [documentId = ''] = world.documentIds(organizationId)
      const [annotationId = ''] = world.annotationIds(organizationId, documentId)
      place = { organizationId, documentId, annotationId }
      world.putUser(organizationId, PERSON)
      joinGroup(world, organizationId, [...world.groupIds(organizationId)][0] ?? '', PERSON.userId)
      edited = addComment(world, place, { text: 'the old words', from: PERSON })
      deleted = addComment(world, place, { text: 'soon gone' })
      await live.importCatalog()
      await live.run()
      edit(world, place, edited, { text: 'the new words' })
      deleteComment(world, place, deleted)
      await live.run()
      worker = await startWorker(await live.openApp(), jobs, { keepsSchedule: false })
      http = await serveApp(await live.openApp())
      browser = await openBrowser()
      page = await browser.newPage()
      await page.goto(http.url)
      await page.getByLabel('Token').fill(TOKEN)
      await page.getByRole('button', { name: 'Sign in' }).click()
    })
    afterAll(async () => {
      await browser?.close()
      await http?.stop()
      await worker?.stop()
    })
    beforeEach(async () => {
      clicks = 0
      await page.goto(http.url)
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
        page
          .getByRole('main')
          .getByRole('link', { name: /run [0-9a-f]{8}/ })
          .first(),
      )
      await page.getByRole('heading', { level: 1, name: /^Run / }).waitFor()
      expect(clicks).toBe(1)
    })

    test('who is that person, a member of what, since when', async () => {
      await find('lovelace')
      await click(page.getByRole('link', { name: PERSON.name }).first())
      await page.getByRole('heading', { level: 1, name: `User ${PERSON.name}` }).waitFor()
      const row = page.getByRole('row', { name: /User group/ })
      expect(await row.locator('time').count()).toBe(1)
      await page.getByText(PERSON.email).first().waitFor()
      expect(clicks).toBe(1)
    })

    test('which scopes of an organization fail, and retry them', async () => {
      live.standIn.setFaults([{ kind: 'forbidden', match: { ...place, operation: 'comments' } }])
      await live.run()
      live.standIn.setFaults([])
      await page.reload()
      await click(
        page.getByRole('main').getByRole('link', { name: place.organizationId, exact: true }),
      )
      expect(await page.locator('#beneath tbody tr').first().innerText()).toContain('failing')
      await click(page.getByRole('button', { name: 'Retry what fails' }))
      await click(page.getByRole('main').getByRole('button').first())
      await page.locator('.title .badge', { hasText: 'succeeded' }).waitFor()
      expect(clicks).toBe(3)
    })

    test('add a document and sync it', async () => {
      await click(page.getByRole('link', { name: 'Catalog' }))
      await click(
        page.getByRole('main').getByRole('link', { name: place.organizationId, exact: true }),
      )
      await page.getByLabel('ID of a new document').fill('doc-of-clicks')
      await click(page.getByRole('button', { name: 'Add the document' }))
      await click(page.getByRole('main').getByRole('button').first())
      await page.getByRole('heading', { level: 1, name: /^Run / }).waitFor()
      const { rows } = await live.database.pool.query(
        `select scope from sync.runs order by requested_at desc limit 1`,
      )
      expect(rows).toEqual([
        { scope: { organizationIds: [place.organizationId], documentId: 'doc-of-clicks' } },
      ])
      expect(clicks).toBe(4)
    })

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
