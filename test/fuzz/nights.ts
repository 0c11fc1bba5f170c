import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import type { Pool } from 'pg'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import { catalogLines } from '../../src/demo/catalog.ts'
import type { FaultRule } from '../service/faults.ts'
import { POISON_KINDS } from '../service/poison.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { Random } from '../../src/demo/random.ts'
import { startStandIn } from '../service/stand-in.ts'
import type { StandIn } from '../service/stand-in.ts'
import { createWorld } from '../../src/demo/world.ts'
import { createLog } from '../../src/base/log.ts'
import { migrateQueue } from '../../src/core/queue/backend.ts'
import type { QueuePlace } from '../../src/core/queue/backend.ts'
import { itemDelivery, openQueue } from '../../src/core/queue/queue.ts'
import { startRun } from '../../src/core/run/start.ts'
import type { WorkerProcess } from '../helpers/worker-process.ts'
import { annotationCase, encoded, renderListing } from './generate.ts'
import { Served } from './served.ts'

export interface NightsOptions {
  readonly queue: 'postgres' | 'redis'
  readonly nights: number
  readonly seed: number
  readonly redisUrl: string
  /** Begins the database's name; a test gives that of its run. */
  readonly databasePrefix?: string
  /** Starts a worker as a process of its own. */
  readonly start: (environment: Readonly<Record<string, string>>) => Promise<WorkerProcess>
  readonly tell: (line: string) => void
  /** How large the world is; 2,000 scopes and 20,000 comments where it is left out. */
  readonly world?: typeof WORLD
  /** Shares of nights in which a worker is killed or stands still. */
  readonly kills?: number
  readonly freezes?: number
}

export interface NightsResult {
  readonly complaints: readonly string[]
}

const WORLD = {
  organizations: 10,
  documentsPerOrganization: 10,
  annotationsPerDocument: 19,
  commentsPerAnnotation: 11,
  usersPerOrganization: 30,
  groupsPerOrganization: 2,
}

/** 2,030 scopes: one more would be none of a thousand. */
const CHANGES_A_NIGHT = 100
const KILLS = 0.25
const FREEZES = 0.04
/** Two heartbeats, and what a busy machine adds. */
const DEAD_AFTER_S = 12
const FREEZE_MS = (DEAD_AFTER_S + 5) * 1000
const NIGHT_MAX_MS = 240_000
/** A killed worker tells of its calls about once a second. */
const UNTOLD_MS = 2_000

/**
 * Night after night over one database with two workers: changes of the world, an answer of twenty broken anew, now and then
 * a worker that is killed or stands still; then one night of sound answers. Complains of each run without an end, of each
 * scope with sound answers that is not as the service has it, of calls that are not counted, and of every row that differs
 * in the end.
 */
export async function poisonedNights(
  server: string,
  options: NightsOptions,
): Promise<NightsResult> {
  const name = `${options.databasePrefix ?? 'cs_fuzz'}_nights_${randomBytes(5).toString('hex')}`
  const admin = openDatabase(server, { max: 1 })
  await admin.query(`create database ${name}`)
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
  await migrate(url)
  const pool = openDatabase(url, { max: 4 })
  const world = createWorld({ seed: options.seed, ...WORLD, ...options.world })
  const standIn = await startStandIn({ world, logCalls: 50_000, seed: options.seed })
  const nights = new Nights(url, pool, standIn, options)
  try {
    return await nights.run()
  } finally {
    await nights.close()
    await standIn.close()
    await pool.end()
    await admin.query(`drop database if exists ${name} with (force)`)
    await admin.end()
  }
}

class Nights {
  readonly #url: string
  readonly #pool: Pool
  readonly #standIn: StandIn
  readonly #options: NightsOptions
  readonly #random: Random
  readonly #served: Served
  readonly #queuePlace: QueuePlace
  readonly #workers: WorkerProcess[] = []
  readonly #complaints: string[] = []
  /** When each call of the current night came; so many of them a killed worker may not have told of. */
  #untold = 0
  #counted = 0

  constructor(url: string, pool: Pool, standIn: StandIn, options: NightsOptions) {
    this.#url = url
    this.#pool = pool
    this.#standIn = standIn
    this.#options = options
    this.#random = new Random(options.seed)
    this.#served = new Served(pool, standIn.world)
    this.#queuePlace =
      options.queue === 'postgres'
        ? { kind: 'postgres', url }
        : { kind: 'redis', url: options.redisUrl, prefix: `fuzz-${randomBytes(5).toString('hex')}` }
  }

  async run(): Promise<NightsResult> {
    const { nights, queue, tell } = this.#options
    await this.#prepare()
    const startedMs = performance.now()
    for (let night = 1; night <= nights; night++) {
      const began = performance.now()
      const told = this.#complaints.length
      const what = await this.#night(night)
      const seconds = ((performance.now() - began) / 1000).toFixed(1)
      tell(`${queue}, night ${night}: ${what}, ${seconds} s, ${this.#complaints.length} complaints`)
      for (const complaint of this.#complaints.slice(told, told + 5)) tell(`  ${complaint}`)
    }
    await this.#cleanNight()
    await this.#compareCalls()
    const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1)
    tell(
      `${queue}: ${nights} poisoned nights and a clean one in ${minutes} min; the service saw ${this.#standIn.calls.total} calls, the runs counted ${this.#counted}, killed workers may have kept ${this.#untold}; ${this.#complaints.length} complaints`,
    )
    for (const complaint of this.#complaints.slice(0, 20)) tell(`  ${complaint}`)
    return { complaints: this.#complaints }
  }

  async close(): Promise<void> {
    for (const worker of this.#workers) {
      worker.wake()
      await worker.kill()
    }
  }

  async #prepare(): Promise<void> {
    const { world } = this.#standIn
    const source = {
      name: 'world',
      unit: 'line' as const,
      async *lines() {
        let number = 0
        for (const line of catalogLines(world)) yield { number: ++number, line }
      },
    }
    await importCatalog(this.#pool, source, { prune: false })
    await migrateQueue(this.#queuePlace)
    for (const at of [0, 1]) this.#workers[at] = await this.#startWorker()
  }

  #startWorker(): Promise<WorkerProcess> {
    const { url, apiKey, authToken } = this.#standIn
    const place = this.#queuePlace
    return this.#options.start({
      COLLAB_API_URL: url,
      COLLAB_API_KEY: apiKey,
      COLLAB_AUTH_TOKEN: authToken,
      DATABASE_URL: this.#url,
      // Most of what is broken is as broken in the next try.
      SYNC_RETRIES: '1',
      TEST_DEAD_AFTER_S: String(DEAD_AFTER_S),
      // Who was the only one in a listing and left is missed in every answer.
      HELD_ACCEPT_AFTER: '3',
      LOG_LEVEL: 'error',
      ...(place.kind === 'redis' ? { REDIS_URL: place.url, QUEUE_PREFIX: place.prefix } : {}),
    })
  }

  /** One night with its breakage. @returns what happened to the workers */
  async #night(night: number): Promise<string> {
    const { seed, kills = KILLS, freezes = FREEZES } = this.#options
    const changeSeed = seed + night
    randomChanges(this.#standIn.world, { count: CHANGES_A_NIGHT, seed: changeSeed })
    this.#served.noteDeleted()
    this.#standIn.setFaults(breakage(changeSeed))
    const logged = this.#standIn.calls.log.length
    const firstCallMs = Date.now()
    const runId = await this.#startRun()
    const fate = this.#random.next()
    const isKill = night > 1 && fate < kills
    const isFreeze = night > 1 && !isKill && fate < kills + freezes
    const what = isKill ? 'a worker killed' : isFreeze ? 'a worker frozen' : 'no worker harmed'
    const harm = isKill ? this.#kill() : isFreeze ? this.#freeze() : Promise.resolve()
    const run = await this.#settled(runId)
    await harm
    if (run === null) {
      this.#complaints.push(`night ${night}: run ${runId} has no end`)
      return what
    }
    const broken = this.#standIn.calls.log
      .slice(Math.min(logged, this.#standIn.calls.log.length))
      .concat(this.#standIn.calls.log.filter(({ atMs }) => atMs >= firstCallMs))
      .filter(({ fault }) => fault !== null)
    for (const complaint of await this.#served.compareSound(runId, broken))
      this.#complaints.push(`night ${night}: ${complaint}`)
    return `${run.status}, ${broken.length} broken answers, ${what}`
  }

  async #startRun(): Promise<string> {
    const context = { database: this.#pool, operations: ['users', 'comments'] } as const
    const request = { trigger: 'schedule', scope: {}, requestKey: null } as const
    const { runId, items } = await startRun(context, request)
    const queue = await openQueue(this.#queuePlace, createLog('silent'))
    await queue.deliver(items.map(itemDelivery))
    await queue.close()
    return runId
  }

  async #kill(): Promise<void> {
    await this.#someCalls()
    const which = this.#random.below(2)
    const killedMs = Date.now()
    await this.#workers[which]?.kill()
    // What it sent in its last moments, and what was in flight.
    await sleep(100)
    const { log } = this.#standIn.calls
    this.#untold += log.filter(({ atMs }) => atMs > killedMs - UNTOLD_MS).length
    this.#workers[which] = await this.#startWorker()
  }

  async #freeze(): Promise<void> {
    await this.#someCalls()
    const worker = this.#workers[this.#random.below(2)]
    worker?.freeze()
    await sleep(FREEZE_MS)
    worker?.wake()
    await sleep(UNTOLD_MS)
  }

  /** Until the night is somewhere in its middle. */
  async #someCalls(): Promise<void> {
    const { calls } = this.#standIn
    const enough = calls.total + this.#random.below([...catalogLines(this.#standIn.world)].length)
    const deadline = performance.now() + 10_000
    while (calls.total < enough && performance.now() < deadline) await sleep(5)
  }

  async #settled(runId: string): Promise<{ status: string } | null> {
    const deadline = performance.now() + NIGHT_MAX_MS
    while (performance.now() < deadline) {
      const { rows } = await this.#pool.query(
        'select status from sync.runs where run_id = $1 and finished_at is not null',
        [runId],
      )
      if (rows[0] !== undefined) return rows[0] as { status: string }
      await sleep(50)
    }
    return null
  }

  async #cleanNight(): Promise<void> {
    this.#standIn.setFaults([])
    // A listing that lost so many that it is held is believed when the same answer came in two nights more.
    let run: { status: string } | null = null
    for (let night = 0; night < 3 && run?.status !== 'succeeded'; night++)
      run = await this.#settled(await this.#startRun())
    if (run?.status !== 'succeeded')
      this.#complaints.push(`the clean night is ${run?.status ?? 'without an end'}`)
    for (const complaint of await this.#served.compareAll())
      this.#complaints.push(`after the clean night: ${complaint}`)
  }

  async #compareCalls(): Promise<void> {
    // The last second may still be on its way.
    await sleep(UNTOLD_MS)
    const { rows } = await this.#pool.query('select sum(calls)::float8 as calls from sync.runs')
    this.#counted = rows[0].calls
    const { total } = this.#standIn.calls
    if (this.#counted > total || this.#counted < total - this.#untold)
      this.#complaints.push(`${this.#counted} calls are counted, the service saw ${total}`)
  }
}

/** One answer in twenty is broken, in other ways every night. */
function breakage(seed: number): FaultRule[] {
  const isListing = ({ data }: { data: object }) => !('commentIds' in data)
  const random = new Random(seed)
  const cases = fc.sample(annotationCase(1), { seed, numRuns: 200 })
  const poisons = POISON_KINDS.filter((kind) => kind !== 'million-characters')
  return [
    {
      kind: 'custom',
      rate: 0.02,
      match: ({ operation, data }) => operation === 'comments' && isListing({ data }),
      respond(request, response) {
        const generated = random.pick(cases)
        const [night] = generated.nights
        if (night === undefined || request.operation !== 'comments') return
        const { bytes, encoding } = encoded(
          renderListing(generated, night, request.data),
          night.transfer,
        )
        const { httpStatus } = night.transfer
        response.writeHead(httpStatus, encoding === null ? {} : { 'content-encoding': encoding })
        response.end(bytes)
      },
    },
    { kind: 'poison', poison: [random.pick(poisons), random.pick(poisons)], rate: 0.012 },
    { kind: 'half-with-next-page-token', rate: 0.004 },
    { kind: 'empty-list', rate: 0.004, match: isListing },
    { kind: 'wrong-length', rate: 0.05 },
    { kind: 'truncated-json', rate: 0.004 },
    { kind: 'cut-body', rate: 0.003 },
    { kind: 'no-data', rate: 0.003 },
    { kind: 'connection-reset', rate: 0.003 },
  ]
}
