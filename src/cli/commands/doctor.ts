import * as catalog from '../../core/database/statements/catalog.ts'
import { hasEmbeddedPostgres } from '../../worker/embedded/home.ts'
import { readPace } from '../../core/rate-limit/pace.ts'
import { counted, time } from '../../schemas/format.ts'
import type { Log } from '../../base/log.ts'
import { printable } from '../../base/printable.ts'
import { readSettings } from '../../settings/settings.ts'
import type { ServiceSettings } from '../../settings/settings.ts'
import type { Settings } from '../../settings/table.ts'
import { openStore } from '../../worker/store.ts'
import { checkStore } from '../doctor/check-database.ts'
import { testNotify } from '../doctor/check-notify.ts'
import { checkQueue } from '../doctor/check-queue.ts'
import { checkService } from '../doctor/check-service.ts'
import { checkSettings } from '../doctor/check-settings.ts'
import { broken, guarded, next, PATIENCE_MS, skip } from '../doctor/finding.ts'
import type { Finding } from '../doctor/finding.ts'
import { EXIT } from '../exit.ts'
import { note, paint, print, printJson } from '../output.ts'
import { quietLog } from '../with-store.ts'

/** Time limit of a connection: shorter, so that a full server reports its reason. */
const WAIT_MS = PATIENCE_MS / 2
/** After PostgreSQL and Redis, the service gets the rest of it. */
const WHOLE_MS = 4_000
const SERVICE_LEAST_MS = 1_500

/**
 * `collab-sync doctor`: checks everything that a run needs. With `notify`, it sends a test message to each receiver instead.
 * Exit code 2 if a run would fail, or a receiver does not accept the message.
 */
export async function doctor(options: { json?: boolean; notify?: boolean }): Promise<number> {
  const findings = await (options.notify
    ? testNotify(readSettings(process.env, { need: ['http'] }))
    : checkAll())
  const isOk = !findings.some(({ state }) => state === 'fail')
  if (options.json) printJson({ ok: isOk, findings })
  else print(describe(findings))
  return isOk ? EXIT.done : EXIT.usage
}

async function checkAll(): Promise<Finding[]> {
  const startedAtMs = performance.now()
  const { findings, settings, wrong } = checkSettings(process.env)
  if (settings === null) return [...findings, skip('service')]
  const log = quietLog(settings)
  const { redisUrl, queuePrefix: prefix } = settings
  const withQueue = !wrong.has('queue')
  const onRedis =
    withQueue && redisUrl !== undefined
      ? checkQueue({ kind: 'redis', url: redisUrl, prefix }, log)
      : null
  const {
    found,
    scopes = [],
    pause = null,
  } = wrong.has('database')
    ? { found: [skip('PostgreSQL')] }
    : await checkTables(settings, withQueue && onRedis === null, log)
  const queue = withQueue ? await onRedis : [skip('queue')]
  const leftMs = Math.round(WHOLE_MS - (performance.now() - startedAtMs))
  const timeoutMs = Math.max(leftMs, SERVICE_LEAST_MS)
  const service = wrong.has('service')
    ? [skip('service')]
    : pause !== null
      ? [skip('service', `${pause.by} paused all calls until ${time(pause.until)}`)]
      : await guarded(
          'service',
          () => checkService(settings as ServiceSettings & Settings, scopes, timeoutMs),
          WHOLE_MS,
        )
  return [...findings, ...found, ...(queue ?? []), ...service]
}

/** Checks PostgreSQL, and the queue if it is there. @returns also scopes of the catalog for the calls to the service, and the pause that forbids these calls */
async function checkTables(settings: Settings, withQueue: boolean, log: Log) {
  const isEmbedded = settings.databaseUrl === undefined
  if (isEmbedded && !hasEmbeddedPostgres(settings.home)) {
    const missing = `not created yet: migrate creates an embedded one in ${settings.home}; set DATABASE_URL to use your own`
    return { found: [next('PostgreSQL', missing, 'collab-sync migrate')] }
  }
  // Starting an embedded one takes longer.
  const patience = isEmbedded ? undefined : AbortSignal.timeout(PATIENCE_MS)
  const opening = { log, applicationName: 'doctor', say: note, signal: patience, waitMs: WAIT_MS }
  const store = await openStore(settings, opening).catch((error: unknown) => error as Error)
  if (store instanceof Error) return { found: [broken('PostgreSQL', store)] }
  const { operations } = settings
  // All at once, within the time limit. If the catalog or the pause cannot be read, one of the checks reports why.
  const [{ findings, isReachable }, scopes, pace] = await Promise.all([
    checkStore(store, settings),
    catalog.anyScopes.all(store.database, { operations }).catch(() => []),
    readPace(store.database).catch(() => undefined),
  ])
  // Do not report the same fault twice.
  const isReported = !isReachable && store.queuePlace.url === store.databaseUrl
  const queue = withQueue && !isReported ? await checkQueue(store.queuePlace, log) : []
  await store.close().catch(() => {})
  return { found: [...findings, ...queue], scopes, pause: pace?.pause ?? null }
}

const MARKS: Record<Finding['state'], string> = {
  ok: paint.green('ok  '),
  warn: paint.yellow('warn'),
  fail: paint.red('fail'),
  next: paint.cyan('next'),
  skip: paint.yellow('skip'),
}

function describe(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(({ check, state, found, fix }) => [
    `${MARKS[state]}  ${check.padEnd(width)}  ${printable(found)}`,
    ...(fix === undefined
      ? []
      : [`${' '.repeat(width + 8)}${paint.cyan('fix:')} ${printable(fix)}`]),
  ])
  const countOf = (state: Finding['state']) =>
    findings.filter((each) => each.state === state).length
  const verdict = `${counted(countOf('fail'), 'problem')}, ${counted(countOf('warn'), 'warning')}.`
  const isBroken = countOf('fail') > 0
  const step = isBroken ? undefined : findings.find(({ state }) => state === 'next')?.fix
  const after = step === undefined ? '' : ` Next: ${step}`
  return [...lines, '', paint.bold(verdict + after)].join('\n')
}
