import { UsageError } from '../../base/errors.ts'
import { OPERATIONS } from '../../base/operations.ts'
import { count, counted, scopePath } from '../../schemas/format.ts'
import { printable } from '../../base/printable.ts'
import { verify as verifyTables } from '../../features/check/verify.ts'
import type { Difference, Verified } from '../../features/check/verify.ts'
import { EXIT } from '../exit.ts'
import { facts, note, print, printJson } from '../output.ts'
import { scopeOf } from '../requested-scope.ts'
import type { ScopeOptions } from '../scope-options.ts'
import { withCalls } from '../with-store.ts'

/** `collab-sync verify [--sample N | scope]`: compares the tables with the service. */
export async function verify(
  options: ScopeOptions & { sample?: number; json?: boolean },
): Promise<number> {
  const scope = scopeOf(options)
  const isScoped = Object.keys(scope).length > 0
  if (isScoped && options.sample !== undefined)
    throw new UsageError('--sample cannot be combined with a scope: all of it is verified.')
  const { sample } = options
  const of = { ...(isScoped && { scope }), ...(sample !== undefined && { sample }) }
  return withCalls({ name: 'verify' }, async (app) => {
    const verified = await verifyTables(app.sync, of, (difference) => {
      if (!options.json) print(describeDifference(difference))
    })
    if (options.json) printJson(verified)
    else describe(verified)
    if (verified.differing > 0) return EXIT.failed
    return verified.failed > 0 ? EXIT.partial : EXIT.done
  })
}

const WORDS: Readonly<Record<Difference['kind'], string>> = {
  missing: 'is not in the tables',
  extra: 'is in the tables and not in the service',
  different: 'differs in',
  rejected: 'cannot be stored:',
}

function describeDifference(difference: Difference): string {
  const { operation, id, kind, columns, reason, isChangedSince, isSetAside, removal } = difference
  const noun = `${OPERATIONS[operation].record} ${id ?? 'record'}`
  const since = isChangedSince ? ' (changed since the last check)' : ''
  const known = isSetAside ? ' (set aside)' : removal === null ? '' : ` (removal ${removal})`
  const what = [WORDS[kind], columns.join(', '), reason ?? ''].filter(Boolean).join(' ')
  return `${scopePath(difference)}: ${printable(`${noun} ${what}`)}${since}${known}`
}

function describe(verified: Verified): void {
  for (const { message } of verified.failures) note(printable(message))
  const { scopes, records, differing, changedSince, setAside, failed, errorRate, calls } = verified
  const { held, refused } = verified
  print(
    facts([
      ['compared', `${counted(records, 'record')} of ${counted(scopes, 'scope')}`],
      ['differing', `${count(differing)} (error rate ${(100 * errorRate).toFixed(4)} %)`],
      ['changed since', counted(changedSince, 'comment')],
      ['set aside', counted(setAside, 'rejected record')],
      ['removal held', counted(held, 'record')],
      ['removal refused', counted(refused, 'record')],
      ['not compared', counted(failed, 'scope')],
      ['calls', count(calls)],
    ]),
  )
}
