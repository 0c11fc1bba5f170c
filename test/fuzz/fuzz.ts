import fc from 'fast-check'
import { keyOf } from '../worlds/log.ts'
import { Comparison, MAX_IDS } from './compare.ts'
import type { Difference } from './compare.ts'
import { annotationCase, encoded, listingCase, renderById, renderListing } from './generate.ts'
import type { Place, ScopeCase } from './generate.ts'
import { MAX_BODY_BYTES, SMALL_LIMITS, limitCase } from './limits.ts'
import type { Limit } from './limits.ts'
import { EndlessRunError } from '../helpers/direct-run.ts'
import { createCatalog, scopesOf } from './layout.ts'
import type { Layout, Scope } from './layout.ts'
import { openProgram } from './place.ts'
import type { Program } from './place.ts'
import { startService } from './service.ts'
import type { Asked, Reply, Service } from './service.ts'

/** What a fuzzer found so far. */
export interface Findings {
  bodies: number
  runs: number
  endlessRuns: number
  workerDied: number
  /** How often each limit, reason and failure was met. */
  readonly met: Map<string, number>
  readonly differences: Found[]
}

export interface Found extends Difference {
  readonly seed: number
  readonly night: number
  readonly scopeCase: ScopeCase | null
}

/** Generated cases against the program, a database at a time. */
export class Fuzzer {
  readonly findings: Findings = {
    bodies: 0,
    runs: 0,
    endlessRuns: 0,
    workerDied: 0,
    met: new Map(),
    differences: [],
  }
  readonly #service: Service
  readonly #layout: Layout
  readonly #scopes: readonly Scope[]

  private constructor(service: Service, layout: Layout) {
    this.#service = service
    this.#layout = layout
    this.#scopes = [...scopesOf(layout)]
  }

  static async open(layout: Layout): Promise<Fuzzer> {
    return new Fuzzer(await startService(), layout)
  }

  close(): Promise<void> {
    return this.#service.close()
  }

  /**
   * Every scope of a fresh database with a case of its own, night after night.
   * @param limits answers at a limit or just beyond, one scope each
   */
  async generation(
    seed: number,
    nights: number,
    limits: readonly Limit[] = SMALL_LIMITS,
  ): Promise<void> {
    const drawn = casesOf(this.#scopes, seed, nights)
    const cases = new Map(drawn)
    // The cases at limits stand in for the last ones of the last annotations: their neighbours are drawn ones.
    const annotations = this.#scopes.filter(({ kind }) => kind === 'annotation').reverse()
    for (const [at, [name, make]] of limits.entries()) {
      const scope = annotations[at * 3]
      if (scope === undefined) break
      cases.set(keyOf(scope), limitCase(make(), nights))
      this.#count(`limit: ${name}`)
    }
    await this.run(cases, nights, seed)
  }

  #count(what: string): void {
    this.findings.met.set(what, (this.findings.met.get(what) ?? 0) + 1)
  }

  /** @param cases by the key of the scope; a scope without one answers nothing */
  async run(cases: ReadonlyMap<string, ScopeCase>, nights: number, seed: number): Promise<void> {
    const database = await createCatalog(this.#layout)
    const program = await openProgram(database.url, this.#service.url, {
      SYNC_MAX_BODY_BYTES: String(MAX_BODY_BYTES),
      SYNC_MAX_IDS: String(MAX_IDS),
    })
    try {
      const model = new Comparison(this.#layout, MAX_BODY_BYTES)
      const answers = new Responses(this.#scopes, cases)
      for (let night = 0; night < nights; night++) {
        const found = await this.#night(program, model, answers, night)
        for (const each of found)
          this.findings.differences.push({
            ...each,
            seed,
            night,
            scopeCase: cases.get(each.key) ?? null,
          })
        // What differs once would differ in every night after it.
        if (found.length > 0) break
      }
    } finally {
      await program.close()
      await database.drop()
    }
  }

  async #night(
    program: Program,
    model: Comparison,
    answers: Responses,
    night: number,
  ): Promise<readonly Difference[]> {
    const { findings } = this
    this.#service.exchanges.clear()
    this.#service.answer = (asked) => answers.of(asked, night)
    const at = new Date()
    const callsBefore = this.#service.calls
    let runId: string
    try {
      runId = await program.run()
    } catch (error) {
      if (!(error instanceof EndlessRunError)) throw error
      findings.endlessRuns += 1
      return [{ key: '', says: error.message }]
    }
    findings.bodies += this.#service.calls - callsBefore
    findings.runs += 1
    const { database } = program
    const died = `select from sync.failures where run_id = $1 and error_status = 'worker_died'`
    findings.workerDied += (await database.query(died, [runId])).rowCount ?? 0
    const run = { database, runId, at }
    return model.compare(this.#service.exchanges, run, (what) => this.#count(what))
  }
}

/** A case for every scope. */
function casesOf(scopes: readonly Scope[], seed: number, nights: number): Map<string, ScopeCase> {
  const annotations = scopes.filter(({ kind }) => kind === 'annotation')
  const listings = scopes.filter(({ kind }) => kind !== 'annotation')
  const draw = (arbitrary: fc.Arbitrary<ScopeCase>, numRuns: number) =>
    fc.sample(arbitrary, { seed, numRuns })
  return new Map([
    ...zip(annotations, draw(annotationCase(nights), annotations.length)),
    ...zip(listings, draw(listingCase(nights), listings.length)),
  ])
}

function zip(scopes: readonly Scope[], cases: readonly ScopeCase[]): [string, ScopeCase][] {
  return scopes.map((scope, at) => [keyOf(scope), cases[at] as ScopeCase])
}

/** What the service answers, by scope and night. */
class Responses {
  readonly #places: ReadonlyMap<string, Place>
  readonly #cases: ReadonlyMap<string, ScopeCase>
  readonly #listings = new Map<string, Reply>()

  constructor(scopes: readonly Scope[], cases: ReadonlyMap<string, ScopeCase>) {
    this.#places = new Map(scopes.map((scope) => [keyOf(scope), placeOf(scope)]))
    this.#cases = cases
  }

  of({ key, ids }: Asked, night: number): Reply {
    const scopeCase = this.#cases.get(key)
    const place = this.#places.get(key)
    const now = scopeCase?.nights[night]
    if (scopeCase === undefined || place === undefined || now === undefined) return EMPTY
    if (ids !== null) return { ...EMPTY, bytes: renderById(scopeCase, now, place, ids) }
    const before = this.#listings.get(key)
    if (before !== undefined && now.repeats) return before
    const { bytes, encoding } = encoded(renderListing(scopeCase, now, place), now.transfer)
    const reply = { ...now.transfer, bytes, encoding }
    this.#listings.set(key, reply)
    return reply
  }
}

const EMPTY: Reply = {
  httpStatus: 200,
  encoding: null,
  bytes: Buffer.from('{"result":{"data":[]}}'),
  isChunked: false,
  isCut: false,
}

/** Scopes that have no document or annotation are named by what they have. */
function placeOf({ organizationId, documentId, annotationId, groupId }: Scope): Place {
  const last = annotationId ?? documentId ?? groupId ?? organizationId
  return { organizationId, documentId: documentId ?? last, annotationId: last }
}
