import { join } from 'node:path'
import { figure, median, short } from '../bench.ts'
import type { Comparison, Figure, Goal, Table } from '../bench.ts'
import { runCommand, runProgram } from '../child.ts'
import type { ProcessUsage } from '../child.ts'
import { walOf } from '../database.ts'
import type { BenchDatabase } from '../database.ts'
import { openPlace } from '../place.ts'
import type { Place } from '../place.ts'
import { postgresCpuS } from '../postgres-cpu.ts'
import { environmentOf } from '../program.ts'
import { FOUR_THOUSAND } from '../worlds.ts'

const WORLD = { ...FOUR_THOUSAND, organizations: 4, documents: 50 }
const ROUNDS = 5
const CHANGES = 400

const SCENES = ['first load', 'again, same bytes', 'again, other order', '1 % changed'] as const
const PROGRAMS = ['collab-sync', 'script', 'bare loop'] as const
const COMMANDS = [['--version'], ['status']]

type Scene = (typeof SCENES)[number]
type Program = (typeof PROGRAMS)[number]

interface Measured extends ProcessUsage {
  readonly postgresCpuS: number
  readonly walMb: number
  /** From the first call until the last response, as the service sees it. */
  readonly callsPerS: number
}

/** What each round measured, by scene and program. */
type Rounds = readonly ReadonlyMap<string, Measured>[]

/** The program as it is installed, the script of `script/`, and a loop that makes the calls only, in turn. */
export const script: Comparison = {
  name: 'script',
  title: 'Against a script',
  async run(servers) {
    const place = await openPlace(servers, WORLD, ['--latency', '40', '--no-shuffle', '--prepare'])
    const rounds: Map<string, Measured>[] = []
    const commands: number[][] = COMMANDS.map(() => [])
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const databases = new Map<Program, BenchDatabase>()
        for (const program of PROGRAMS) databases.set(program, await place.createDatabase())
        try {
          rounds.push(await measureScenes(place, databases, round))
          const database = databases.get('collab-sync') as BenchDatabase
          const environment = environmentOf({ ...place, database }, 'postgres')
          for (const [index, command] of COMMANDS.entries())
            commands[index]?.push((await runCommand(command, environment)).cpuS)
        } finally {
          for (const database of databases.values()) await database.drop()
        }
      }
    } finally {
      await place.close()
    }
    const commandFigures = COMMANDS.map(([command = ''], index) =>
      figure(
        `script.${command.replace('--', '')}`,
        `CPU of \`${command}\``,
        commands[index] as number[],
        { unit: 's', atMost: command === 'status' ? 0.8 : 0.25 },
      ),
    )
    return { tables: [tableOf(rounds)], figures: [...ratiosOf(rounds), ...commandFigures] }
  },
}

async function measureScenes(
  place: Place,
  databases: ReadonlyMap<Program, BenchDatabase>,
  round: number,
): Promise<Map<string, Measured>> {
  const measured = new Map<string, Measured>()
  for (const scene of SCENES) {
    await place.standIn.control({
      shuffleRecords: scene === 'again, other order',
      ...(scene === '1 % changed' && {
        changes: { count: CHANGES, seed: round, kinds: ['edit'] },
      }),
    })
    for (const program of round % 2 === 0 ? PROGRAMS : PROGRAMS.toReversed())
      measured.set(
        `${scene}, ${program}`,
        await measure(place, program, databases.get(program) as BenchDatabase),
      )
  }
  return measured
}

async function measure(place: Place, program: Program, database: BenchDatabase): Promise<Measured> {
  const environment = environmentOf({ ...place, database }, 'postgres')
  const file = join(
    import.meta.dirname,
    `../script/${program === 'script' ? 'script' : 'bare-loop'}.js`,
  )
  await place.standIn.control({ resetCalls: true })
  const { walBytes, result } = await walOf(place.servers, async () => {
    const before = await postgresCpuS(place.servers)
    const used =
      program === 'collab-sync'
        ? await runCommand(['run'], environment)
        : await runProgram([file, place.catalogFile], environment)
    await database.othersAreGone()
    return { ...used, postgresCpuS: (await postgresCpuS(place.servers)) - before }
  })
  const { total, firstAtMs, lastAtMs } = await place.standIn.control()
  await database.pool.query('vacuum (analyze)')
  return {
    ...result,
    walMb: walBytes / 1e6,
    callsPerS: (total / ((lastAtMs ?? 0) - (firstAtMs ?? 0))) * 1000,
  }
}

function tableOf(rounds: Rounds): Table {
  return {
    title: '4,212 calls, 40,000 comments, 40 ms a call, 64 in flight',
    head: ['', 'wall s', 'own CPU s', "PostgreSQL's CPU s", 'WAL MB', 'peak MB', 'calls/s'],
    rows: SCENES.flatMap((scene) =>
      PROGRAMS.map((program) => {
        const middle = (what: keyof Measured) =>
          short(median(valuesOf(rounds, scene, program, what)))
        return [
          `${scene}: ${program}`,
          middle('seconds'),
          middle('cpuS'),
          ...(program === 'bare loop' ? ['', ''] : [middle('postgresCpuS'), middle('walMb')]),
          middle('peakMb'),
          middle('callsPerS'),
        ]
      }),
    ),
  }
}

function ratiosOf(rounds: Rounds): Figure[] {
  const ratio = (
    name: string,
    means: string,
    [scene, what, other]: readonly [Scene, keyof Measured, Program],
    goal: Goal,
  ) => {
    const theirs = valuesOf(rounds, scene, other, what)
    const ours = valuesOf(rounds, scene, 'collab-sync', what)
    const of = `${means} / that of the ${other}, ${scene}`
    return figure(
      `script.${name}`,
      of,
      ours.map((one, round) => one / (theirs[round] as number)),
      goal,
    )
  }
  const [first, , order] = SCENES
  return [
    ratio('cpu.bare-loop', 'own CPU a call', [order, 'cpuS', 'bare loop'], { atMost: 1.5 }),
    ratio('cpu.again', 'own CPU', [order, 'cpuS', 'script'], { atMost: 0.55 }),
    ratio('cpu.first-load', 'own CPU', [first, 'cpuS', 'script'], { atMost: 0.75 }),
    ratio('postgres.first-load', "PostgreSQL's CPU", [first, 'postgresCpuS', 'script'], {
      atMost: 0.55,
    }),
    ratio('postgres.unchanged', "PostgreSQL's CPU", [order, 'postgresCpuS', 'script'], {
      atMost: 0.12,
    }),
    ratio('rate.again', 'calls a second', [order, 'callsPerS', 'bare loop'], { atLeast: 0.95 }),
    ratio('rate.first-load', 'calls a second', [first, 'callsPerS', 'bare loop'], {
      atLeast: 0.9,
    }),
  ]
}

function valuesOf(rounds: Rounds, scene: Scene, program: Program, what: keyof Measured): number[] {
  return rounds.map((round) => (round.get(`${scene}, ${program}`) as Measured)[what])
}
