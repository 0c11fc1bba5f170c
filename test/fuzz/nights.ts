import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { Random } from '../../src/demo/random.ts'
import { callsNeeded } from '../faults/rig.ts'
import type { Rig } from '../faults/rig.ts'
import type { RunRow } from '../helpers/live.ts'
import type { WorkerBuild, WorkerProcess } from '../helpers/worker-process.ts'
import type { FaultRule } from '../service/faults.ts'
import { POISON_KINDS } from '../service/poison.ts'
import { annotationCase, encoded, renderListing } from './generate.ts'
import { Served } from './served.ts'

export interface NightsOptions {
  readonly nights: number
  readonly seed: number
  /** Changes of the world before each night. */
  readonly changes: number
  /** Shares of nights in which a worker is killed or stands still. */
  readonly kills: number
  readonly freezes: number
  readonly tell: (line: string) => void
}

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
export class Nights {
  readonly #rig: Rig
  readonly #build: WorkerBuild
  readonly #options: NightsOptions
  readonly #random: Random
  readonly #served: Served
  readonly #workers: WorkerProcess[] = []
  readonly #complaints: string[] = []
  /** So many calls a killed worker may not have told of. */
  #untold = 0
  #counted = 0

  constructor(rig: Rig, build: WorkerBuild, options: NightsOptions) {
    this.#rig = rig
    this.#build = build
    this.#options = options
    this.#random = new Random(options.seed)
    this.#served = new Served(rig.database.pool, rig.world)
  }

  /** @returns the complaints */
  async run(): Promise<readonly string[]> {
    const { nights, tell } = this.#options
    for (const at of [0, 1]) this.#workers[at] = await this.#startWorker()
    const startedMs = performance.now()
    for (let night = 1; night <= nights; night++) {
      const began = performance.now()
      const told = this.#complaints.length
      const what = await this.#night(night)
      const seconds = ((performance.now() - began) / 1000).toFixed(1)
      tell(`night ${night}: ${what}, ${seconds} s, ${this.#complaints.length} complaints`)
      for (const complaint of this.#complaints.slice(told, told + 5)) tell(`  ${complaint}`)
    }
    await this.#cleanNight()
    await this.#compareCalls()
    const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1)
    tell(
      `${nights} poisoned nights and a clean one in ${minutes} min; the service saw ${this.#rig.standIn.calls.total} calls, the runs counted ${this.#counted}, killed workers may have kept ${this.#untold}`,
    )
    return this.#complaints
  }

  #startWorker(): Promise<WorkerProcess> {
    return this.#build.start({
      ...this.#rig.environment,
      // Most of what is broken is as broken in the next try.
      SYNC_RETRIES: '1',
      TEST_DEAD_AFTER_S: String(DEAD_AFTER_S),
      // Who was the only one in a listing and left is missed in every answer.
      HELD_ACCEPT_AFTER: '3',
      LOG_LEVEL: 'error',
    })
  }

  /** One night with its breakage. @returns what happened to the workers */
  async #night(night: number): Promise<string> {
    const { world, standIn } = this.#rig
    const { seed, changes, kills, freezes } = this.#options
    randomChanges(world, { count: changes, seed: seed + night })
    this.#served.noteDeleted()
    standIn.setFaults(breakage(seed + night))
    const firstCallMs = Date.now()
    const runId = await this.#rig.startRun('schedule')
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
    const broken = standIn.calls.log.filter(
      ({ atMs, fault }) => atMs >= firstCallMs && fault !== null,
    )
    for (const complaint of await this.#served.compareSound(runId, broken))
      this.#complaints.push(`night ${night}: ${complaint}`)
    return `${run.status}, ${broken.length} broken answers, ${what}`
  }

  async #kill(): Promise<void> {
    await this.#someCalls()
    const which = this.#random.below(2)
    const killedMs = Date.now()
    await this.#workers[which]?.kill()
    // What it sent in its last moments, and what was in flight.
    await sleep(100)
    const { log } = this.#rig.standIn.calls
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
    const { world, standIn } = this.#rig
    const enough = standIn.calls.total + this.#random.below(callsNeeded(world))
    const deadline = performance.now() + 10_000
    while (standIn.calls.total < enough && performance.now() < deadline) await sleep(5)
  }

  #settled(runId: string): Promise<RunRow | null> {
    return this.#rig.settled(runId, NIGHT_MAX_MS).catch(() => null)
  }

  async #cleanNight(): Promise<void> {
    this.#rig.standIn.setFaults([])
    // A listing that lost so many that it is held is believed when the same answer came in two nights more.
    let run: RunRow | null = null
    for (let night = 0; night < 3 && run?.status !== 'succeeded'; night++)
      run = await this.#settled(await this.#rig.startRun('schedule'))
    if (run?.status !== 'succeeded')
      this.#complaints.push(`the clean night is ${run?.status ?? 'without an end'}`)
    for (const complaint of await this.#served.compareAll())
      this.#complaints.push(`after the clean night: ${complaint}`)
  }

  async #compareCalls(): Promise<void> {
    // The last second may still be on its way.
    await sleep(UNTOLD_MS)
    const { rows } = await this.#rig.database.pool.query(
      'select sum(calls)::float8 as calls from sync.runs',
    )
    this.#counted = rows[0].calls
    const { total } = this.#rig.standIn.calls
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
