/**
 * What `import { ... } from 'collab-sync'` offers: the scope of a run, for programs that put a `start-run` job into the
 * queue themselves and want a wrong one refused before it is there.
 */

export { UsageError } from './errors.ts'
export { parseScope } from './scope.ts'
export type { Scope } from './scope.ts'
