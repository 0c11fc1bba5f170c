#!/usr/bin/env node
import { createProgram } from './program.ts'
import { reportError } from './report-error.ts'

// Whoever reads our output may have enough of it (`| head`): that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

// Set rather than exited with: what is still being written is written, what is open is closed.
try {
  await createProgram((code) => (process.exitCode = code)).parseAsync()
} catch (error) {
  process.exitCode = reportError(error)
}
