import { UsageError } from '../../base/errors.ts'
import { count, counted, describeRejected, scopePath } from '../../schemas/format.ts'
import { printable } from '../../base/printable.ts'
import { planRun } from '../../features/check/plan.ts'
import type { PlannedRun, PlannedScope } from '../../features/check/plan.ts'
import { EXIT, reportNothingFails } from '../exit.ts'
import { facts, print } from '../output.ts'
import { checkRequest, requestOf } from '../requested-scope.ts'
import type { RequestOptions } from '../scope-options.ts'
import { withCalls } from '../with-store.ts'

/** `collab-sync run --dry-run`: shows what a run would change. */
export async function plan(options: RequestOptions & { json?: boolean }): Promise<number> {
  checkRequest(options)
  if (options.add) throw new UsageError('--add cannot be combined with --dry-run.')
  return withCalls({ name: 'plan' }, async (app) => {
    const request = await requestOf(app.store.database, options)
    const page = options.json ? jsonPage() : TEXT_PAGE
    const planned = await planRun(app.sync, request, (scope) => {
      if (describeChanges(scope) !== '') page.add(scope)
    })
    page.end(planned)
    return planned.failed + planned.heldScopes + planned.lost > 0 ? EXIT.partial : EXIT.done
  }).catch((error: unknown) => reportNothingFails(error, { ...options, say: print }))
}

const TEXT_PAGE = {
  add(scope: PlannedScope): void {
    print(`${scopePath(scope)} (${scope.operation}): ${describeChanges(scope)}`)
  },
  end(planned: PlannedRun): void {
    const { scopes, failed, received, unchanged, calls } = planned
    print(
      facts([
        ['changes', describeChanges({ ...planned, failure: null }) || 'none'],
        ['records', `${count(received)} received, ${count(unchanged)} unchanged`],
        ['scopes', `${count(scopes)} fetched, ${count(failed)} failed`],
        ['calls', count(calls)],
      ]),
    )
  },
}

/** Writes one document in parts: the plan of a first run is as long as the catalog. */
function jsonPage(): typeof TEXT_PAGE {
  let before = '{"scopes": ['
  const write = (text: string) => void process.stdout.write(printable(text, '\n'))
  return {
    add(scope) {
      write(`${before}\n  ${JSON.stringify(scope)}`)
      before = ','
    },
    end: (planned) =>
      write(`${before === ',' ? '' : before}\n], "total": ${JSON.stringify(planned)}}\n`),
  }
}

function describeChanges(
  changes: Pick<PlannedScope, Extract<keyof PlannedScope, keyof PlannedRun> | 'failure'>,
): string {
  const { added, changed, removed, held, rejected, fieldsRejected: fields, failure } = changes
  return [
    added > 0 ? `${count(added)} added` : '',
    changed > 0 ? `${count(changed)} changed` : '',
    removed > 0 ? `${count(removed)} removed` : '',
    held > 0 ? `${counted(held, 'removal')} held` : '',
    rejected > 0 ? `${describeRejected(rejected - fields, fields)} rejected` : '',
    failure === null ? '' : `failed: ${printable(failure)}`,
  ]
    .filter(Boolean)
    .join(', ')
}
