import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import type { CollabSync } from '../../client/collab-sync.ts'
import { RunSchema } from '../../schemas/run.ts'
import { isAway } from '../error-response.ts'
import { noSuchRun, ProblemError } from '../problem.ts'
import { operation, RunPathSchema } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

/** Each stream queries PostgreSQL twice a second. */
const STREAMS_MAX = 200
/** Streams of one token from one address, so that one client cannot take all of them. */
const STREAMS_OF_ONE_MAX = 10
/** A comment is sent this often, so that no proxy closes a stream without events. */
const HEARTBEAT_MS = 15_000
const RETRY_MS = 2_000
/** ID of the last event. A browser that reconnects with it gets 204, after which it does not reconnect. */
const END = 'end'

const WATCH_RUN = operation('read', 'watchRun', {
  summary: 'The progress of a run, as server-sent events',
  description:
    'An event `run` with a Run as JSON after each change, up to the final state, and then an event `end`. While PostgreSQL is unreachable, the stream stays open and sends an event `away` after each failed query.',
  params: RunPathSchema,
  response: z.string(),
  problems: [404],
  mediaType: 'text/event-stream',
  config: { takesLong: true },
})
const ALL_SEEN = z.undefined().describe('The client has all events (`Last-Event-ID: end`).')

/** The progress of a run as server-sent events. */
export function runEventsRoute(app: V1App, { collabSync }: V1Options): void {
  /** Each with its token and address. */
  const streams = new Map<AbortController, string>()
  app.addHook('preClose', async () => {
    for (const stream of streams.keys()) stream.abort()
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
      // Registered before the first await, so that a client that disconnects early is noticed.
      reply.raw.once('close', () => stream.abort())
      if ((await collabSync.getRun(runId)) === null) throw noSuchRun()
      const client = `${request.by} ${request.ip}`
      const own = [...streams.values()].filter((each) => each === client).length
      if (streams.size >= STREAMS_MAX || own >= STREAMS_OF_ONE_MAX)
        throw new ProblemError(429, 'Too many streams of runs are open.', {
          headers: { 'retry-after': '30' },
        })
      if (!stream.signal.aborted) {
        streams.set(stream, client)
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
      // Browsers do not reconnect after a stream that ends with an error.
      if (!isAway(error)) throw error
      yield event('away', '', { detail: 'PostgreSQL does not respond. Trying again.' })
    }
    await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
  }
}

function event(name: string, id: string, data: object): string {
  return `event: ${name}\n${id === '' ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}
