import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import type { CollabSync } from '../../client/collab-sync.ts'
import { RunSchema } from '../../documents/run.ts'
import { isAway } from '../answer-error.ts'
import { ProblemError } from '../problem.ts'
import { operation, RunPathSchema } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'
import { noSuchRun } from './run-routes.ts'

/** Each asks PostgreSQL twice a second. */
const STREAMS_MAX = 200
/** A comment is sent this often, so that no proxy closes a stream without events. */
const HEARTBEAT_MS = 15_000
const RETRY_MS = 2_000
/** The id of the last event: a browser that comes back with it is asked to stay away (204). */
const END = 'end'

const WATCH_RUN = operation('read', {
  id: 'watchRun',
  tag: 'Runs',
  summary: 'The progress of a run, as server-sent events',
  description:
    'An event `run` with a Run as JSON each time something of it changed, the settled state last; then an event `end`, and no more. While PostgreSQL is away the stream stays open, with an event `away` each time that it is looked for.',
  params: RunPathSchema,
  answer: z.string(),
  answered: 'Events, until the run is settled.',
  problems: [404],
  mediaType: 'text/event-stream',
  config: { takesLong: true },
})
const ALL_SEEN = z.undefined().describe('All events were received before (`Last-Event-ID: end`).')

/** The progress of a run as server-sent events. */
export function runEventsRoute(app: V1App, { collabSync }: V1Options): void {
  const streams = new Set<AbortController>()
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.abort()
  })
  app.get(
    '/runs/:runId/events',
    {
      ...WATCH_RUN,
      schema: { ...WATCH_RUN.schema, response: { ...WATCH_RUN.schema.response, 204: ALL_SEEN } },
    },
    async (request, reply) => {
      if (request.headers['last-event-id'] === END) return reply.code(204).send()
      const { runId } = request.params
      const stream = new AbortController()
      // Before anything is awaited: whoever leaves meanwhile leaves nothing behind.
      reply.raw.once('close', () => stream.abort())
      if ((await collabSync.getRun(runId)) === null) throw noSuchRun()
      if (streams.size >= STREAMS_MAX)
        throw new ProblemError(429, 'Too many runs are followed at a time.', {
          headers: { 'retry-after': '30' },
        })
      if (!stream.signal.aborted) {
        streams.add(stream)
        const sendComment = () => reply.raw.writableEnded || reply.raw.write(': still here\n\n')
        const heartbeat = setInterval(sendComment, HEARTBEAT_MS)
        stream.signal.addEventListener('abort', () => {
          streams.delete(stream)
          clearInterval(heartbeat)
        })
      }
      return reply
        .type('text/event-stream')
        .header('x-accel-buffering', 'no')
        .send(Readable.from(eventsOf(collabSync, runId, stream.signal)))
    },
  )
}

async function* eventsOf(
  collabSync: CollabSync,
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`
  while (!signal.aborted) {
    try {
      for await (const run of collabSync.watchRun(runId, { signal }))
        yield event('run', run.readAt.toISOString(), z.encode(RunSchema, run))
      if (!signal.aborted) yield event('end', END, { runId })
      return
    } catch (error) {
      if (signal.aborted) return
      // Browsers do not come back to a stream that ends in an error.
      if (!isAway(error)) throw error
      yield event('away', '', { detail: 'PostgreSQL does not answer; trying again.' })
    }
    await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
  }
}

function event(name: string, id: string, data: object): string {
  return `event: ${name}\n${id === '' ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}
