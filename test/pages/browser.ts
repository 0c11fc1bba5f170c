import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'
import { closedAtEnd } from '../helpers/closing.ts'
import { CHROMIUM } from '../soak/needs.ts'

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

/** A browser, until the test or its file ends. */
export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  closedAtEnd(() => browser.close())
  return browser
}
