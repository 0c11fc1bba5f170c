#!/usr/bin/env node
import { writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { hearSignals } from './signals.ts'

/** They end in order whenever they are asked to, also while their code is loaded, which takes a second. */
const ENDS_IN_ORDER = ['worker', 'serve', 'run']
hearSignals({ endsInOrder: ENDS_IN_ORDER.includes(process.argv[2] ?? '') })

// A reader that closes the pipe (`| head`) has what it wants. Any other error is reported once, at the end.
const stdout: Writable & { fd: number } = process.stdout
let outputError = null as NodeJS.ErrnoException | null
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') outputError ??= error
})
// There is nowhere to report that a report cannot be written; without a listener it would end the work.
process.stderr.on('error', () => {})

// Where the disk takes only the beginning of a chunk, Node's stream of a file drops the end without an error; writeFileSync
// does not. Pipes and terminals are sockets.
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
// Called when all output is written, or has failed.
await new Promise((resolve) => stdout.write('', resolve))
if (outputError !== null) {
  const { reportUnwritten } = await import('./exit.ts')
  code = reportUnwritten(outputError, code)
}
// Set rather than exited with: what is open is closed first.
process.exitCode = code
