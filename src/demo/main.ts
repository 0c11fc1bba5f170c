#!/usr/bin/env node
import { Command, InvalidArgumentError } from 'commander'
import { writeCatalog } from './catalog-lines.ts'
import { startControl } from './control.ts'
import { startStandIn } from './stand-in.ts'
import { createWorld } from './world.ts'

interface Options {
  port: number
  basePath: string
  seed: number
  organizations: number
  documents: number
  annotations: number
  comments: number
  users: number
  groups: number
  now?: Date
  skew: boolean
  shuffle: boolean
  latency: number
  jitter: number
  maxIds: number
  logCalls: number
  prepare?: true
  apiKey: string
  authToken: string
  catalog?: string
  exitWithStdin?: true
}

const program = new Command('stand-in')
  .description(
    'Runs the stand-in for the service as a process of its own, for tests and benchmarks.',
  )
  .option('--port <n>', 'port of the service, 0 for any', whole, 0)
  .option('--base-path <path>', 'what stands before the paths of the service', '')
  .option('--seed <n>', 'seed of the world, of order and of faults', whole, 1)
  .option('--organizations <n>', 'organizations', whole, 3)
  .option('--documents <n>', 'documents in an organization', whole, 8)
  .option('--annotations <n>', 'annotations in a document', whole, 10)
  .option('--comments <n>', 'comments in an annotation', whole, 5)
  .option('--users <n>', 'users in an organization', whole, 25)
  .option('--groups <n>', 'user groups in an organization', whole, 4)
  .option('--now <time>', 'newest time of the world, ISO 8601 (default: a fixed day)', instant)
  .option('--no-skew', 'exactly these numbers in each parent, instead of on average')
  .option('--no-shuffle', 'answers in the same order every time')
  .option('--latency <ms>', 'wait before each answer', whole, 0)
  .option('--jitter <ms>', 'further wait of up to this', whole, 0)
  .option('--max-ids <n>', 'most ids in a filter', whole, 30)
  .option('--log-calls <n>', 'newest calls that are kept', whole, 0)
  .option('--prepare', 'make the answers before starting, so that the first ones are fast too')
  .option('--api-key <key>', 'the key that is accepted', 'demo-api-key')
  .option('--auth-token <token>', 'the token that is accepted', 'demo-auth-token')
  .option('--catalog <file>', 'write the catalog of the world there, as NDJSON, before starting')
  .option('--exit-with-stdin', 'end when stdin ends, so as not to outlive a killed parent')

program.parse()
await main(program.opts<Options>())

/** Starts both servers, prints one JSON line with their addresses, and ends on SIGTERM or SIGINT. */
async function main(options: Options): Promise<void> {
  const world = createWorld({
    seed: options.seed,
    organizations: options.organizations,
    documentsPerOrganization: options.documents,
    annotationsPerDocument: options.annotations,
    commentsPerAnnotation: options.comments,
    usersPerOrganization: options.users,
    groupsPerOrganization: options.groups,
    skew: options.skew,
    ...(options.now && { now: options.now }),
  })
  if (options.catalog !== undefined) await writeCatalog(world, options.catalog)
  const standIn = await startStandIn({
    world,
    port: options.port,
    basePath: options.basePath,
    seed: options.seed,
    shuffle: options.shuffle,
    latencyMs: options.latency,
    latencyJitterMs: options.jitter,
    maxIds: options.maxIds,
    logCalls: options.logCalls,
    prepare: options.prepare ?? false,
    apiKey: options.apiKey,
    authToken: options.authToken,
  })
  const control = await startControl(standIn)
  // Before the line is printed: whoever reads it may stop this process at once.
  const stop = () =>
    void Promise.all([standIn.close(), control.close()]).then(() => process.exit(0))
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  if (options.exitWithStdin) process.stdin.resume().once('end', stop)
  const { url, apiKey, authToken } = standIn
  console.log(
    JSON.stringify({ url, apiKey, authToken, controlUrl: control.url, ...world.totals() }),
  )
}

function whole(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0.')
  return Number(text)
}

function instant(text: string): Date {
  const date = new Date(text)
  if (Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError('It must be a time such as 2025-11-03T12:00:00Z.')
  }
  return date
}
