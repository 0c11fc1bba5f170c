import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { openBrowser } from '../pages/browser.ts'
import { MISSING } from '../soak/needs.ts'
import { openNights } from './nights.ts'
import type { Nights } from './nights.ts'

/** The screenshots of README.md. `npm run screenshots` writes them; without SCREENSHOTS, they are only taken and checked. */

const IMAGES = resolve(import.meta.dirname, '../../docs/images')
const BYTES_MAX = 150_000
const WINDOW = { width: 1200, height: 720 }
const MARGIN_PX = 16

describe.skipIf(MISSING.includes('Chromium'))('the screenshots of README.md', () => {
  let nights: Nights
  let page: Page

  beforeAll(async () => {
    nights = await openNights()
    const browser = await openBrowser()
    page = await browser.newPage({ viewport: WINDOW, colorScheme: 'light' })
    await page.goto(nights.url)
  })

  test('the overview shows thirty nights, the last run and an open problem', async () => {
    await page.goto(nights.url)
    expect(await page.locator('.nights .bars li').count()).toBe(30)
    expect(await page.locator('.nights .bars li.bad').count()).toBe(1)
    await page.getByRole('heading', { name: '1 open problem' }).waitFor()
    await take('overview', '.card:has(.nights)', true)
  })

  test('a comment shows its versions', async () => {
    await page.goto(nights.url + nights.commentPath)
    await page.getByText('Version 4: the service returned it again').waitFor()
    expect(await page.getByText(/^Version \d:/).count()).toBe(4)
    await take('comment', '#life')
  })

  /** The page from its heading, or its top, down to an element. */
  async function take(name: string, last: string, isWhole = false): Promise<void> {
    const [main, { y = 0, height = 0 } = {}] = await Promise.all(
      ['main', last].map(async (each) => (await page.locator(each).boundingBox()) ?? undefined),
    )
    const top = isWhole ? 0 : (main?.y ?? 0)
    const bottom = y + height + MARGIN_PX
    const clip = { x: 0, y: top, width: WINDOW.width, height: Math.ceil(bottom - top) }
    const image = await page.screenshot({ fullPage: true, clip })
    expect(image.length).toBeLessThan(BYTES_MAX)
    if (!process.env['SCREENSHOTS']) return
    await mkdir(IMAGES, { recursive: true })
    await writeFile(join(IMAGES, `${name}.png`), image)
  }
})
