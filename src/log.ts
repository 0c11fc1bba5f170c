import { pino } from 'pino'
import type { Logger } from 'pino'

export type Log = Logger

/** Members that hold a credential wherever they occur. */
const SECRET_MEMBERS = [
  'apiKey',
  'authToken',
  'token',
  'password',
  'headers',
  'url',
  'connectionString',
  'databaseUrl',
  'redisUrl',
  'queueDatabaseUrl',
  'catalogDatabaseUrl',
]

/**
 * The root logger: JSON lines on stderr (stdout belongs to what a command prints).
 * Members that could hold a credential are censored whatever logs them; that is the second door,
 * the first is that no credential is ever handed to a log line.
 */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      redact: {
        paths: SECRET_MEMBERS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: '[secret]',
      },
    },
    pino.destination({ dest: 2, sync: true }),
  )
}

/** The log with the run's id in every line, once. */
export function logOfRun(log: Log, runId: string): Log {
  return log.bindings()['runId'] === runId ? log : log.child({ runId })
}

/** Just these members: errors of drivers carry their client, or the command with its arguments, password and all. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  const { code } = error as { code?: unknown }
  return { name, message, ...(code === undefined ? {} : { code }), stack }
}
