import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as catalog from '../../database/statements/catalog.ts'
import { EnvironmentError, UsageError } from '../../errors.ts'
import { counted } from '../../format.ts'
import type { Log } from '../../log.ts'
import { printable } from '../../printable.ts'
import type { ServiceSettings } from '../../settings/settings.ts'
import type { Settings } from '../../settings/table.ts'
import { openStore } from '../../store.ts'
import { checkStore } from '../doctor/check-database.ts'
import { checkQueue } from '../doctor/check-queue.ts'
import { checkService } from '../doctor/check-service.ts'
import { checkNotify, checkSettings } from '../doctor/check-settings.ts'
import { broken, fail, ok } from '../doctor/finding.ts'
import type { Finding } from '../doctor/finding.ts'
import { EXIT } from '../exit.ts'
import { note, paint, print, printJson } from '../output.ts'
import { quietLog } from '../with-store.ts'

/**
 * `collab-sync doctor`: looks at everything a run needs, changes nothing. Exit code 2 where a setting is wrong, as for
 * every other command; else 1 where anything fails.
 */
export async function doctor({ json }: { json?: boolean }): Promise<number> {
  const checked = checkSettings(process.env)
  const findings = [...checked.findings]
  if (checked.settings !== null) {
    const { settings, usable } = checked
    const log = quietLog(settings)
    const organizationId = usable.has('database')
      ? await lookAtStore(settings, usable.has('queue'), findings, log)
      : null
    if (usable.has('service')) {
      findings.push(await checkService(settings as Settings & ServiceSettings, organizationId, log))
    }
  }
  if (json) printJson({ ok: !findings.some(({ state }) => state === 'fail'), findings })
  else print(describe(findings))
  if (checked.findings.some(({ state }) => state === 'fail')) return EXIT.usage
  return findings.some(({ state }) => state === 'fail') ? EXIT.failed : EXIT.done
}

/** @returns an organization of the catalog to ask the service for; null where there is none */
async function lookAtStore(
  settings: Settings,
  withQueue: boolean,
  findings: Finding[],
  log: Log,
): Promise<string | null> {
  const isEmbedded = settings.databaseUrl === undefined
  if (isEmbedded && !existsSync(join(settings.home, 'password'))) {
    findings.push(
      ok(
        'PostgreSQL',
        `none yet: the first command that needs one makes an embedded one in ${settings.home} (set DATABASE_URL to use yours)`,
      ),
    )
    return null
  }
  try {
    const store = await openStore(settings, { log, applicationName: 'doctor', say: note })
    try {
      const { findings: found, isReachable, hasTables } = await checkStore(store, settings)
      findings.push(...found)
      // The same fault need not be reported twice.
      const isReported = !isReachable && store.queuePlace.url === store.databaseUrl
      if (withQueue && !isReported) findings.push(...(await checkQueue(store.queuePlace)))
      if (!hasTables) return null
      findings.push(...(await checkNotify(store.database, settings.notifyUrls ?? [])))
      return (await catalog.anyOrganization.first(store.database))?.organizationId ?? null
    } finally {
      await store.close()
    }
  } catch (error) {
    if (error instanceof UsageError) {
      findings.push(fail('PostgreSQL', error.message, 'correct that setting'))
    } else if (error instanceof EnvironmentError) findings.push(broken('PostgreSQL', error))
    else throw error
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
