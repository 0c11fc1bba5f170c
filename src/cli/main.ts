#!/usr/bin/env node
import './node-version.ts'
import { writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { npmSettings } from '../settings/npm.ts'
import { handleSignals } from './signals.ts'

/** They stop gracefully at any time, also while their code is loaded, which takes a second. */
const GRACEFUL = ['worker', 'serve', 'run']
handleSignals({
  isGraceful: GRACEFUL.includes(process.argv[2] ?? ''),
  ...npmSettings(process.env),
})

// A reader that closes the pipe (`| head`) is no error. Other errors are reported once, at the end.
const stdout: Writable & { fd: number } = process.stdout
let outputError = null as NodeJS.ErrnoException | null
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') outputError ??= error
})
// Without a listener, an error of stderr would end the process.
process.stderr.on('error', () => {})

// If the disk accepts only the beginning of a chunk, a file stream of Node.js drops the rest without an error; writeFileSync
// throws. Pipes and terminals are sockets.
if (!(stdout instanceof Socket))
  stdout._write = (chunk: Uint8Array, _encoding, done) => {
    try {
      writeFileSync(stdout.fd, chunk)
      done()
    } catch (error) {
      done(error as Error)
    }
  }

const { createProgram } = await import('./program.ts')
let code = 0
try {
  await createProgram((given) => (code = given)).parseAsync()
} catch (error) {
  const { reportError } = await import('./exit.ts')
  if (error !== outputError) code = reportError(error)
}
// Waits until all output is written, or has failed.
await new Promise((resolve) => stdout.write('', resolve))
if (outputError !== null) {
  const { reportUnwritten } = await import('./exit.ts')
  code = reportUnwritten(outputError, code)
}
// Not process.exit: open resources are closed first.
process.exitCode = code
