import { UsageError } from '../../base/errors.ts'
import { count, counted, scopePath } from '../../documents/format.ts'
import { printable } from '../../base/printable.ts'
import { planRun } from '../../features/check/plan.ts'
import type { PlannedRun, PlannedScope } from '../../features/check/plan.ts'
import { EXIT } from '../exit.ts'
import { facts, print } from '../output.ts'
import { checkRequest, requestOf } from '../requested-scope.ts'
import type { RequestOptions } from '../scope-options.ts'
import { onSignals } from '../signals.ts'
import { withApp } from '../with-store.ts'

/** `collab-sync run --dry-run`: tells what a run would do to the tables, and does none of it. */
export async function plan(options: RequestOptions & { json?: boolean }): Promise<number> {
  checkRequest(options)
  if (options.add)
    throw new UsageError('--add changes the catalog, and --dry-run changes nothing: leave out one.')
  return withApp({ name: 'plan' }, async (app) => {
    const request = await requestOf(app.store.database, options)
    const forget = onSignals(() => app.drain())
    const page = options.json ? new JsonPage() : new TextPage()
    try {
      const planned = await planRun(app.sync, request, (scope) => {
        if (wouldChange(scope)) page.add(scope)
      })
      page.end(planned)
      return planned.failed + planned.heldScopes + planned.lost > 0 ? EXIT.partial : EXIT.done
    } finally {
      forget()
    }
  })
}

function wouldChange(scope: PlannedScope): boolean {
  const { added, changed, removed, held, rejected, failure } = scope
  return added + changed + removed + held + rejected > 0 || failure !== null
}

class TextPage {
  add(scope: PlannedScope): void {
    print(`${scopePath(scope)} (${scope.operation}): ${describeChanges(scope)}`)
  }

  end(planned: PlannedRun): void {
    const { scopes, failed, received, unchanged, calls } = planned
    print(
      facts([
        ['would be', describeChanges({ ...planned, failure: null }) || 'nothing changed'],
        ['records', `${count(received)} received, ${count(unchanged)} unchanged`],
        ['scopes', `${count(scopes)} asked for, ${count(failed)} failed`],
        ['calls', count(calls)],
      ]),
    )
  }
}

/** One document, written as it comes: a plan of a first run is as long as the catalog. */
class JsonPage {
  #isEmpty = true

  add(scope: PlannedScope): void {
    this.#write(`${this.#isEmpty ? '{"scopes": [' : ','}\n  ${JSON.stringify(scope)}`)
    this.#isEmpty = false
  }

  end(planned: PlannedRun): void {
    this.#write(`${this.#isEmpty ? '{"scopes": [' : ''}\n], "total": ${JSON.stringify(planned)}}\n`)
  }

  #write(text: string): void {
    process.stdout.write(printable(text, '\n'))
  }
}

function describeChanges(
  changes: Pick<PlannedScope, 'added' | 'changed' | 'removed' | 'held' | 'rejected' | 'failure'>,
): string {
  const { added, changed, removed, held, rejected, failure } = changes
  return [
    added > 0 ? `${count(added)} added` : '',
    changed > 0 ? `${count(changed)} changed` : '',
    removed > 0 ? `${count(removed)} removed` : '',
    held > 0 ? `${counted(held, 'removal')} held` : '',
    rejected > 0 ? `${count(rejected)} rejected` : '',
    failure === null ? '' : `failed: ${printable(failure)}`,
  ]
    .filter(Boolean)
    .join(', ')
}
