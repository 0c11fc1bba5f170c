import { giveHint } from '../../client/hints.ts'
import { notifiedHints } from '../../client/notified-hints.ts'
import { listenTo } from '../../client/listen.ts'
import type { Hinted } from '../../documents/hint.ts'
import { UsageError } from '../../errors.ts'
import { count } from '../../format.ts'
import { createLog } from '../../log.ts'
import { processUser } from '../../process-user.ts'
import { readSettings } from '../../settings/settings.ts'
import { EXIT } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { hintScopeOf } from '../scope-options.ts'
import type { ScopeOptions } from '../scope-options.ts'
import { stopOnSignals } from '../signals.ts'
import { quietLog, traced, withQueue } from '../with-store.ts'

type HintOptions = Pick<ScopeOptions, 'organization' | 'document' | 'annotation'> & {
  readonly add?: boolean
  readonly listen?: string | true
  readonly json?: boolean
}

const CHANNEL = 'collab_sync_hints'

/** `collab-sync hint`: says that comments changed; with `--listen` for as long as it runs, as a channel says it. */
export async function hintCommand(options: HintOptions): Promise<number> {
  const { add, listen, json, ...scopeOptions } = options
  if (listen !== undefined) {
    if (json || Object.keys(scopeOptions).length > 0)
      throw new UsageError('--listen goes with --add alone: the channel says what changed.')
    return listenForHints(listen === true ? CHANNEL : listen, add)
  }
  const scope = hintScopeOf(scopeOptions)
  const settings = readSettings(process.env, { need: ['database', 'queue'] })
  const opening = { settings, log: quietLog(settings), name: 'hint' }
  return traced('hint', settings, opening.log, () =>
    withQueue(opening, async ({ database }, queue) => {
      const parts = { database, queue, log: opening.log }
      const hinted = await giveHint(parts, { scope, add }, processUser())
      if (json) printJson(hinted)
      else print(describe(hinted))
      return EXIT.done
    }),
  )
}

function describe({ runId, threads }: Hinted): string {
  const what = threads === 1 ? '1 annotation' : `${count(threads)} annotations`
  return runId === null
    ? `Continuous refresh looks at ${what} next.`
    : `Run ${runId} looks at ${what}.`
}

async function listenForHints(channel: string, add: boolean | undefined): Promise<number> {
  const settings = readSettings(process.env, { need: ['database', 'queue'] })
  const log = createLog(settings.logLevel)
  const stop = stopOnSignals((signal) => log.info({ signal }, 'stopping'))
  try {
    const opening = { settings, log, name: 'hint', signal: stop.starting }
    await withQueue(opening, async ({ database, databaseUrl }, queue) => {
      stop.started()
      const { hintDatabaseUrl, catalogDatabaseUrl } = settings
      const url = hintDatabaseUrl ?? catalogDatabaseUrl ?? databaseUrl
      const parts = { database, queue, log }
      const hints = notifiedHints((scope) => giveHint(parts, { scope, add }, 'pg_notify'), log)
      const { heard } = hints
      await listenTo({ url, channel }, { heard, log, signal: stop.requested })
      await hints.close()
    })
  } catch (error) {
    if (!stop.starting.aborted) throw error
  } finally {
    stop.forget()
  }
  return EXIT.done
}
