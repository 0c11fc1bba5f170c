import { hasEmbeddedPostgres } from '../../worker/embedded/home.ts'
import { counted } from '../../documents/format.ts'
import type { Log } from '../../base/log.ts'
import { printable } from '../../base/printable.ts'
import type { SettingGroup } from '../../settings/setting.ts'
import type { ServiceSettings } from '../../settings/settings.ts'
import { SETTINGS } from '../../settings/table.ts'
import type { Settings } from '../../settings/table.ts'
import { openStore } from '../../worker/store.ts'
import { checkStore } from '../doctor/check-database.ts'
import { testNotify } from '../doctor/check-notify.ts'
import { checkQueue } from '../doctor/check-queue.ts'
import { checkService } from '../doctor/check-service.ts'
import { checkSettings } from '../doctor/check-settings.ts'
import { broken, fail, guarded, next, skip } from '../doctor/finding.ts'
import type { Finding } from '../doctor/finding.ts'
import { EXIT } from '../exit.ts'
import { note, paint, print, printJson } from '../output.ts'
import { quietLog } from '../with-store.ts'

/** Time limit for PostgreSQL and Redis. The service gets the rest of WHOLE_MS. */
const PATIENCE_MS = 2_500
/** Time limit of a connection: shorter, so that a full server reports its reason. */
const WAIT_MS = PATIENCE_MS / 2
const WHOLE_MS = 4_000
const SERVICE_LEAST_MS = 1_500

/**
 * `collab-sync doctor`: checks everything that a run needs. Exit code 2 if a run would fail. With --notify, only sends a test
 * message to each receiver of NOTIFY_URL. Exit code 1 if one does not accept it, 2 if there is none or its settings are wrong.
 */
export async function doctor({
  json,
  notify,
}: {
  json?: boolean
  notify?: boolean
}): Promise<number> {
  const { findings, failed } = notify ? await sendTests() : await checkAll()
  const isOk = !findings.some(({ state }) => state === 'fail')
  if (json) printJson({ ok: isOk, findings })
  else print(describe(findings))
  return isOk ? EXIT.done : failed
}

/** The findings, and the exit code if one of them fails. */
interface Outcome {
  readonly findings: readonly Finding[]
  readonly failed: number
}

async function sendTests(): Promise<Outcome> {
  const only = [SETTINGS.notifyUrls, SETTINGS.notifySecret]
  const { findings, settings } = checkSettings(process.env, { need: ['http'], only })
  if (settings === null || findings.some(({ state }) => state === 'fail'))
    return { findings, failed: EXIT.usage }
  if (settings.notifyUrls === undefined) {
    const fix = `for example NOTIFY_URL=${SETTINGS.notifyUrls.example}`
    return { findings: [fail('notify', 'NOTIFY_URL is not set.', fix)], failed: EXIT.usage }
  }
  return { findings: await testNotify(settings), failed: EXIT.failed }
}

async function checkAll(): Promise<Outcome> {
  const startedAtMs = performance.now()
  const need = ['service', 'database', 'queue', 'http'] as const
  const { findings: ofSettings, settings, wrong } = checkSettings(process.env, { need })
  const findings = [...ofSettings]
  const outcome = { findings, failed: EXIT.usage }
  /** A row for a check whose own settings are wrong. */
  const skipped = (check: string, group: SettingGroup): Finding[] => {
    const names = wrong.filter((each) => each.group === group).map(({ name }) => name)
    if (settings !== null && names.length === 0) return []
    return [skip(check, `not checked: correct ${names.join(', ') || 'the settings'} first`)]
  }
  const withoutQueue = skipped('queue', 'queue')
  const withoutDatabase = skipped('PostgreSQL', 'database')
  const withoutService = skipped('service', 'service')
  if (settings === null) {
    findings.push(...withoutDatabase, ...withoutQueue, ...withoutService)
    return outcome
  }
  const log = quietLog(settings)
  const { redisUrl, queuePrefix: prefix } = settings
  const onRedis =
    redisUrl === undefined
      ? null
      : checkQueue({ kind: 'redis', url: redisUrl, prefix }, { log, patienceMs: PATIENCE_MS })
  let organizationId: string | null = null
  if (withoutDatabase.length > 0) findings.push(...withoutDatabase)
  else {
    const checked = await checkTables(settings, withoutQueue.length === 0 && onRedis === null, log)
    findings.push(...checked.findings)
    ;({ organizationId } = checked)
  }
  findings.push(...withoutQueue, ...((await onRedis) ?? []))
  const leftMs = Math.round(WHOLE_MS - (performance.now() - startedAtMs))
  const timeoutMs = Math.max(leftMs, SERVICE_LEAST_MS)
  const ofService =
    withoutService.length > 0
      ? withoutService
      : await guarded('service', WHOLE_MS + SERVICE_LEAST_MS, () =>
          checkService(settings as ServiceSettings & Settings, organizationId, timeoutMs),
        )
  findings.push(...ofService)
  return outcome
}

/** Checks PostgreSQL, and the queue if it is there. @param withQueue whether to check it */
async function checkTables(
  settings: Settings,
  withQueue: boolean,
  log: Log,
): Promise<{ findings: Finding[]; organizationId: string | null }> {
  const isEmbedded = settings.databaseUrl === undefined
  if (isEmbedded && !hasEmbeddedPostgres(settings.home)) {
    const found = `not created yet: migrate creates an embedded one in ${settings.home}; set DATABASE_URL to use your own`
    return { findings: [next('PostgreSQL', found, 'collab-sync migrate')], organizationId: null }
  }
  const late = new AbortController()
  let patience: NodeJS.Timeout | undefined
  try {
    const store = await openStore(settings, {
      log,
      applicationName: 'doctor',
      say: note,
      signal: late.signal,
      waitMs: WAIT_MS,
    })
    // Starting an embedded one, which takes longer, is not counted.
    patience = setTimeout(() => late.abort(), PATIENCE_MS)
    try {
      const { findings, isReachable, organizationId } = await checkStore(
        store,
        settings,
        PATIENCE_MS,
      )
      // Do not report the same fault twice.
      const isReported = !isReachable && store.queuePlace.url === store.databaseUrl
      const queue =
        withQueue && !isReported
          ? await checkQueue(store.queuePlace, { log, patienceMs: PATIENCE_MS })
          : []
      return { findings: [...findings, ...queue], organizationId }
    } finally {
      // Everything is read by now.
      await store.close().catch(() => {})
    }
  } catch (error) {
    return { findings: [broken('PostgreSQL', error, PATIENCE_MS)], organizationId: null }
  } finally {
    clearTimeout(patience)
  }
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
