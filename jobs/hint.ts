import { addScope } from '../src/features/catalog/change.ts'
import { checked } from '../src/documents/check.ts'
import { HintJobSchema } from '../src/documents/hint.ts'
import { hint } from '../src/features/refresh/hint.ts'
import type { Job } from '../src/worker/worker.ts'

/** A program reports a change through the queue. Delivered twice, it costs one more poll at most. */
export const hintJob: Job = {
  name: 'hint',
  async perform(app, { data }) {
    const { scope, add, requestedBy } = checked(HintJobSchema, data, 'data')
    if (add) await addScope(app.store.database, scope, requestedBy, 'hint --add')
    const { hinted, items } = await hint(app.sync, scope)
    await app.deliver(items)
    return hinted
  },
}
