import * as catalog from '../../core/database/statements/catalog.ts'
import { hasEmbeddedPostgres } from '../../worker/embedded/home.ts'
import { counted } from '../../documents/format.ts'
import type { Log } from '../../base/log.ts'
import { printable } from '../../base/printable.ts'
import type { ServiceSettings } from '../../settings/settings.ts'
import type { Settings } from '../../settings/table.ts'
import { openStore } from '../../worker/store.ts'
import { checkStore } from '../doctor/check-database.ts'
import { checkQueue } from '../doctor/check-queue.ts'
import { checkService } from '../doctor/check-service.ts'
import { checkNotify, checkSettings } from '../doctor/check-settings.ts'
import { broken, guarded, ok } from '../doctor/finding.ts'
import type { Finding } from '../doctor/finding.ts'
import { EXIT } from '../exit.ts'
import { note, paint, print, printJson } from '../output.ts'
import { quietLog } from '../with-store.ts'

/** PostgreSQL and Redis are waited for so long, and the service for what is left of the whole: less than five seconds. */
const PATIENCE_MS = 2_500
/** Before the connections of the store are broken, so that each check reports for itself. */
const CHECK_MS = PATIENCE_MS - 100
/** For a connection of a full server: less, so that its reason is reported. */
const WAIT_MS = PATIENCE_MS / 2
const WHOLE_MS = 4_000
const SERVICE_LEAST_MS = 1_500

/**
 * `collab-sync doctor`: checks everything a run needs, and does what a worker does and takes it back. Exit code 2 where a run
 * could not succeed.
 */
export async function doctor({ json }: { json?: boolean }): Promise<number> {
  const startedAtMs = performance.now()
  const checked = checkSettings(process.env)
  const findings = [...checked.findings]
  if (checked.settings !== null) {
    const { settings, usable } = checked
    const log = quietLog(settings)
    const { redisUrl, queuePrefix: prefix } = settings
    const withQueue = usable.has('queue')
    const onRedis =
      withQueue && redisUrl !== undefined
        ? checkQueue({ kind: 'redis', url: redisUrl, prefix }, { log, patienceMs: PATIENCE_MS })
        : null
    const organizationId = usable.has('database')
      ? await lookAtStore(settings, withQueue && onRedis === null, findings, log)
      : null
    findings.push(...((await onRedis) ?? []))
    if (usable.has('service')) {
      const leftMs = Math.round(WHOLE_MS - (performance.now() - startedAtMs))
      const timeoutMs = Math.max(leftMs, SERVICE_LEAST_MS)
      findings.push(
        ...(await guarded('service', WHOLE_MS, () =>
          checkService(settings as ServiceSettings & Settings, organizationId, timeoutMs),
        )),
      )
    }
  }
  if (json) printJson({ ok: !findings.some(({ state }) => state === 'fail'), findings })
  else print(describe(findings))
  return findings.some(({ state }) => state === 'fail') ? EXIT.usage : EXIT.done
}

/** @returns an organization of the catalog to ask the service for; null where there is none */
async function lookAtStore(
  settings: Settings,
  withQueue: boolean,
  findings: Finding[],
  log: Log,
): Promise<string | null> {
  const isEmbedded = settings.databaseUrl === undefined
  if (isEmbedded && !hasEmbeddedPostgres(settings.home)) {
    findings.push(
      ok(
        'PostgreSQL',
        `none yet: collab-sync migrate creates an embedded one in ${settings.home} (set DATABASE_URL to use yours)`,
      ),
    )
    return null
  }
  // One that is started here takes its time.
  const patience = isEmbedded ? undefined : AbortSignal.timeout(PATIENCE_MS)
  try {
    const store = await openStore(settings, {
      log,
      applicationName: 'doctor',
      say: note,
      signal: patience,
      waitMs: WAIT_MS,
    })
    try {
      const checked = await checkStore(store, settings, CHECK_MS)
      findings.push(...checked.findings)
      // The same fault need not be reported twice.
      const isReported = !checked.isReachable && store.queuePlace.url === store.databaseUrl
      if (withQueue && !isReported)
        findings.push(...(await checkQueue(store.queuePlace, { log, patienceMs: CHECK_MS })))
      if (!checked.hasTables) return null
      findings.push(
        ...(await guarded('notify', CHECK_MS, () =>
          checkNotify(store.database, settings.notifyUrls ?? []),
        )),
      )
      return (await catalog.anyOrganization.first(store.database))?.organizationId ?? null
    } finally {
      await store.close()
    }
  } catch (error) {
    findings.push(broken('PostgreSQL', error))
    return null
  }
}

const MARKS: Record<Finding['state'], string> = {
  ok: paint.green('ok  '),
  warn: paint.yellow('warn'),
  fail: paint.red('fail'),
}

function describe(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(({ check, state, found, mend }) => [
    `${MARKS[state]}  ${check.padEnd(width)}  ${printable(found)}`,
    ...(mend === undefined
      ? []
      : [`${' '.repeat(width + 8)}${paint.cyan('mend:')} ${printable(mend)}`]),
  ])
  const [fails, warns] = (['fail', 'warn'] as const).map(
    (state) => findings.filter((finding) => finding.state === state).length,
  )
  const verdict =
    fails === 0
      ? warns === 0
        ? 'All is well.'
        : `Nothing stops a run; ${counted(warns ?? 0, 'warning')}.`
      : `${counted(fails ?? 0, 'fault')} to mend.`
  return [...lines, '', paint.bold(verdict)].join('\n')
}
