import { onTestFinished, TestRunner } from 'vitest'

/** What the test file opened outside of its tests and has not closed. */
const open: (() => Promise<void>)[] = []

/**
 * Closes what a helper opened when the test that opened it ends, or the file where none did: the last first.
 * @returns `close` for who wants to close it before; a second call waits for the first
 */
export function closedAtEnd(close: () => Promise<unknown>): () => Promise<void> {
  let left: typeof close | null = close
  let closing: Promise<void> = Promise.resolve()
  const closeOnce = (): Promise<void> => {
    const first = left
    // What is closed is kept by nobody: a test may open thousands.
    left = null
    if (first !== null) closing = first().then(() => {})
    return closing
  }
  if (TestRunner.getCurrentTest() === undefined) open.push(closeOnce)
  else onTestFinished(closeOnce)
  return closeOnce
}

/** Loaded before each file: see close-opened.ts. */
export async function closeOpened(): Promise<void> {
  for (let close = open.pop(); close !== undefined; close = open.pop()) await close()
}
