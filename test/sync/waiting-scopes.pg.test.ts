import { expect, test } from 'vitest'
import { openLive } from '../helpers/live.ts'

const ANNOTATIONS = 8
const RETRY_AFTER_S = 3

test('scopes that wait for another try hold up no others, though two at a time are all that begin', async () => {
  const live = await openLive('none', {
    world: { organizations: 1, documentsPerOrganization: 1, annotationsPerDocument: ANNOTATIONS },
    settings: { SYNC_CONCURRENCY: '1' },
  })
  try {
    await live.importCatalog()
    live.standIn.setFaults([
      {
        kind: 'custom',
        times: 2,
        respond(_request, response) {
          response.writeHead(500, { 'retry-after': String(RETRY_AFTER_S) }).end()
        },
      },
    ])
    const run = await live.run({ scope: { operations: ['comments'] } })
    expect(run).toMatchObject({ status: 'succeeded', calls: ANNOTATIONS + 2, retries: 2 })
    const asked = live.standIn.calls.log.map(({ data }) =>
      data !== null && 'annotationId' in data ? data.annotationId : null,
    )
    const failed = asked.slice(0, 2)
    // All the others were asked for before the first of the two was tried again.
    expect(new Set(asked.slice(0, ANNOTATIONS)).size).toBe(ANNOTATIONS)
    expect(asked.slice(ANNOTATIONS).sort()).toEqual(failed.sort())
  } finally {
    await live.close()
  }
})
