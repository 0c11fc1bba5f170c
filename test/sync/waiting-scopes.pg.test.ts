import { expect, test } from 'vitest'
import { openLoaded } from '../helpers/live.ts'

const ANNOTATIONS = 8

test('scopes that wait for another try hold up no others, though two at a time are all that begin', async () => {
  const live = await openLoaded('none', {
    world: { organizations: 1, documentsPerOrganization: 1, annotationsPerDocument: ANNOTATIONS },
    settings: { SYNC_CONCURRENCY: '1', SYNC_RETRIES: '6' },
  })
  const seen = new Set<unknown>()
  live.standIn.setFaults([
    {
      kind: 'server-error-html',
      // The first two fail until all the others were asked for.
      match({ data }) {
        const { annotationId } = data as { annotationId: string }
        const isOfTheFirst = seen.size < 2 || [...seen].slice(0, 2).includes(annotationId)
        seen.add(annotationId)
        return isOfTheFirst && seen.size < ANNOTATIONS
      },
    },
  ])
  const run = await live.run({ scope: { operations: ['comments'] } })
  expect(run).toMatchObject({ status: 'succeeded', failures: 0 })
  expect(seen.size).toBe(ANNOTATIONS)
})
