import { writeFileSync } from 'node:fs'
import { Command, InvalidArgumentError } from 'commander'
import { catalogLines, named, places } from '../../src/demo/catalog.ts'
import { World } from '../../src/demo/world.ts'
import { startControl } from './control.ts'
import { startStandIn } from './stand-in.ts'

interface Options {
  seed: number
  organizations: number
  documents: number
  annotations: number
  comments: number
  users: number
  groups: number
  skew: boolean
  shuffle: boolean
  latency: number
  logCalls: number
  prepare?: true
  catalog?: string
  exitWithStdin?: true
}

const program = new Command('stand-in')
  .description(
    'Runs the stand-in for the service as a process of its own, for tests and benchmarks.',
  )
  .option('--seed <n>', 'seed of the world, of order and of faults', whole, 1)
  .option('--organizations <n>', 'organizations', whole, 3)
  .option('--documents <n>', 'documents in an organization', whole, 8)
  .option('--annotations <n>', 'annotations in a document', whole, 10)
  .option('--comments <n>', 'comments in an annotation', whole, 5)
  .option('--users <n>', 'users in an organization', whole, 25)
  .option('--groups <n>', 'user groups in an organization', whole, 4)
  .option('--no-skew', 'exactly these numbers in each parent, instead of on average')
  .option('--no-shuffle', 'answers in the same order every time')
  .option('--latency <ms>', 'wait before each answer', whole, 0)
  .option('--log-calls <n>', 'newest calls that are kept', whole, 0)
  .option('--prepare', 'make the comments before starting, so that responses are fast')
  .option('--catalog <file>', 'write the catalog of the world there, as NDJSON, before starting')
  .option('--exit-with-stdin', 'end when stdin ends, so as not to outlive a killed parent')

program.parse()
await main(program.opts<Options>())

/** Starts both servers, prints one JSON line with their addresses, and ends on SIGTERM or SIGINT. */
async function main(options: Options): Promise<void> {
  const world = new World({
    seed: options.seed,
    organizations: options.organizations,
    documentsPerOrganization: options.documents,
    annotationsPerDocument: options.annotations,
    commentsPerAnnotation: options.comments,
    usersPerOrganization: options.users,
    groupsPerOrganization: options.groups,
    skew: options.skew,
  })
  if (options.catalog !== undefined) {
    const lines = [...catalogLines(world)].map((line) => `${JSON.stringify(named(line))}\n`)
    writeFileSync(options.catalog, lines.join(''))
  }
  if (options.prepare)
    for (const place of places(world)) world.putThread(place, world.thread(place)!)
  const standIn = await startStandIn({
    world,
    seed: options.seed,
    shuffle: options.shuffle,
    latencyMs: options.latency,
    logCalls: options.logCalls,
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
