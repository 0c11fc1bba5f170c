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

/** Time limit for PostgreSQL and Redis. The service gets the rest of WHOLE_MS. */
const PATIENCE_MS = 2_500
/** Shorter than the connection's limit, so that each check reports its own error. */
const CHECK_MS = PATIENCE_MS - 100
/** Time limit of a connection: shorter, so that a full server reports its reason. */
const WAIT_MS = PATIENCE_MS / 2
const WHOLE_MS = 4_000
const SERVICE_LEAST_MS = 1_500

/** `collab-sync doctor`: checks everything that a run needs. Exit code 2 if a run would fail. */
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
      ? await checkTables(settings, withQueue && onRedis === null, findings, log)
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

/** @returns an organization of the catalog for the call to the service; null if there is none */
async function checkTables(
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
        `not created yet: collab-sync migrate creates an embedded one in ${settings.home}; set DATABASE_URL to use your own`,
      ),
    )
    return null
  }
  // Starting an embedded one takes longer.
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
      // Do not report the same fault twice.
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
  const lines = findings.flatMap(({ check, state, found, fix }) => [
    `${MARKS[state]}  ${check.padEnd(width)}  ${printable(found)}`,
    ...(fix === undefined
      ? []
      : [`${' '.repeat(width + 8)}${paint.cyan('fix:')} ${printable(fix)}`]),
  ])
  const countOf = (state: Finding['state']) =>
    findings.filter((each) => each.state === state).length
  const verdict = `${counted(countOf('fail'), 'problem')}, ${counted(countOf('warn'), 'warning')}.`
  return [...lines, '', paint.bold(verdict)].join('\n')
}
