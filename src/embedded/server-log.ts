import { copyFile, open, stat, truncate } from 'node:fs/promises'

/** With the one before it, never more than about twice this on disk. */
const MOST_BYTES = 10 * 1024 * 1024
const CHECK_MS = 600_000
const TAIL_BYTES = 4096

/** Bounds the log now and then until the returned function is called; does not hold the process. */
export function keepLogBounded(file: string, mostBytes = MOST_BYTES): () => void {
  const timer = setInterval(() => {
    // A log that cannot be cut, on a full disk say, must not stop a sync.
    boundLog(file, mostBytes).catch(() => {})
  }, CHECK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/**
 * Moves the content of a log that is too long to `<file>.1`. The server keeps the file open in
 * append mode, so it is emptied in place and not renamed.
 */
export async function boundLog(file: string, mostBytes = MOST_BYTES): Promise<void> {
  if ((await sizeOf(file)) <= mostBytes) return
  await copyFile(file, `${file}.1`)
  await truncate(file)
}

/** Length of the log in bytes, 0 if there is none. */
export async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  )
}

/** What was written since the log was that long; only its end when that is a lot. */
export async function logSince(file: string, fromByte: number): Promise<string> {
  const from = Math.max(fromByte, (await sizeOf(file)) - TAIL_BYTES)
  const handle = await open(file, 'r')
  try {
    const buffer = Buffer.alloc(TAIL_BYTES)
    const { bytesRead } = await handle.read(buffer, 0, TAIL_BYTES, from)
    return buffer.toString('utf8', 0, bytesRead).trim()
  } finally {
    await handle.close()
  }
}
