#!/usr/bin/env node
import { hearSignals } from './signals.ts'

/** They end in order whenever they are asked to, also while their code is loaded, which takes a second. */
const ENDS_IN_ORDER = ['worker', 'serve', 'run']
hearSignals({ endsInOrder: ENDS_IN_ORDER.includes(process.argv[2] ?? '') })

// Whoever reads our output may have enough of it (`| head`): that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

const { createProgram } = await import('./program.ts')
// Set rather than exited with: what is still being written is written, what is open is closed.
try {
  await createProgram((code) => (process.exitCode = code)).parseAsync()
} catch (error) {
  const { reportError } = await import('./exit.ts')
  process.exitCode = reportError(error)
}
