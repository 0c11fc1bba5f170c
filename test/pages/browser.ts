import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'

/** Where Debian puts it; another place is told by CHROMIUM_PATH. */
const PATH = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * Whether there is no Chromium here, so that a suite says `describe.skipIf(isBrowserMissing())`; told loudly.
 * @throws in CI: there a test that is skipped is a test that failed
 */
export function isBrowserMissing(): boolean {
  if (existsSync(PATH)) return false
  const problem = `No Chromium at ${PATH} (apt-get install chromium, or CHROMIUM_PATH)`
  if (process.env['CI'] === 'true') throw new Error(`${problem}.`)
  const line = '!'.repeat(problem.length)
  console.warn(
    `\n${line}\n${problem}:\nthe tests of the pages in a browser are SKIPPED.\n${line}\n`,
  )
  return true
}

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: PATH, args: FLAGS })
}
