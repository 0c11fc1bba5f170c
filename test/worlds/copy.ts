import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { prune } from '../../src/features/privacy/prune.ts'
import { readNameRedaction } from '../../src/features/privacy/rules.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { named } from '../../src/demo/catalog.ts'
import type { Comment } from '../../src/demo/comments.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { Scope } from '../../src/schemas/scope.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { readJson } from '../fuzz/exact-json.ts'
import type { JsonArray } from '../fuzz/exact-json.ts'
import { openProgram } from '../fuzz/place.ts'
import type { Program } from '../fuzz/place.ts'
import type { ServiceResponse } from '../fuzz/response-model.ts'
import { createEmptyDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import type { LoggedCall } from '../service/call-log.ts'
import type { FaultRule } from '../service/faults.ts'
import { startStandIn } from '../service/stand-in.ts'
import type { StandIn } from '../service/stand-in.ts'
import { openClock } from './clock.ts'
import type { Clock } from './clock.ts'
import { membersOf } from './life.ts'
import type { Life } from './life.ts'
import type { Call, Deed } from './log.ts'

/** A longer call has failed. */
const TIMEOUT_MS = 5000

/** The program on its own database with its own clock; keeps what it did and what the calls returned. */
export class Copy {
  readonly deeds: Deed[] = []
  readonly database: Database
  readonly clock: Clock
  readonly #life: Life
  readonly #test: TestDatabase
  readonly #standIn: StandIn
  readonly #program: Program

  private constructor(
    life: Life,
    test: TestDatabase,
    standIn: StandIn,
    program: Program,
    clock: Clock,
  ) {
    this.#life = life
    this.#test = test
    this.#standIn = standIn
    this.#program = program
    this.database = program.database
    this.clock = clock
  }

  /**
   * @param settings that define the reports
   */
  static async open(
    life: Life,
    start: Date,
    settings: { COMMENT_WRITTEN_MEMBER?: string; REPORT_TZ: string },
  ): Promise<Copy> {
    const test = await createEmptyDatabase(`encoding 'UTF8' locale 'C'`)
    const { url } = test
    const clock = await openClock(url)
    await clock.set(start)
    await migrate(url, {
      freshnessPromiseMs: 26 * 3_600_000,
      commentWrittenMember: settings.COMMENT_WRITTEN_MEMBER,
      reportTimeZone: settings.REPORT_TZ,
    })
    const standIn = await startStandIn({ world: life.world, logCalls: 10_000 })
    const program = await openProgram(url, standIn.url, {
      COLLAB_API_KEY: standIn.apiKey,
      COLLAB_AUTH_TOKEN: standIn.authToken,
      SYNC_TIMEOUT_MS: String(TIMEOUT_MS),
      ...settings,
    })
    return new Copy(life, test, standIn, program, clock)
  }

  async importCatalog(at: Date): Promise<void> {
    await this.clock.set(at)
    const lines = [...this.#life.catalog()]
    const source = listSource('world', lines.map(named))
    const redaction = readNameRedaction
    await importCatalog(this.database, source, { prune: true, acceptsAll: true, redaction })
    this.deeds.push({ kind: 'catalog', at, lines })
  }

  /** One complete run, by default of everything. */
  async run(at: Date, faults: readonly FaultRule[], scope?: Scope): Promise<void> {
    await this.clock.set(at)
    const { calls } = this.#standIn
    calls.reset()
    this.#standIn.setFaults(faults)
    await this.#program.run(scope)
    const isStopped = calls.log.some(({ fault }) => fault === 'unauthenticated')
    this.deeds.push({
      kind: 'run',
      at,
      scope: scope ?? {},
      calls: calls.log.map((call) => this.#seen(call)),
      isStopped,
    })
  }

  async prune(at: Date, before: Date): Promise<void> {
    await this.clock.set(at)
    await prune(this.database, before)
    this.deeds.push({ kind: 'prune', at, before })
  }

  async erase(at: Date, whom: { organizationId: string | null; userId: string }): Promise<void> {
    await this.clock.set(at)
    const { pseudonym } = await eraseUser(this.database, { ...whom, reason: 'asked for it' })
    this.deeds.push({ kind: 'erase', at, ...whom, pseudonym })
  }

  async close(): Promise<void> {
    await this.#program.close()
    await this.#standIn.close()
    await this.clock.close()
    await this.#test.drop()
  }

  /** The world does not change during a run, so the response of a successful call can be read from it afterwards. */
  #seen({ operation, data, status, fault }: LoggedCall): Call {
    const { organizationId, documentId, annotationId } = data as Place
    const isEmptied = fault === 'empty-list'
    const isGood = status === 200 && (fault === null || isEmptied)
    if (operation === 'comments') {
      const place = { organizationId, documentId, annotationId }
      const { commentIds = null } = data as { commentIds?: number[] }
      const live = this.#life.world.comments(place) ?? []
      const byId = (id: number): Comment | null =>
        live.find(({ commentId }) => commentId === id) ?? null
      const answered = isEmptied ? [] : (commentIds?.map(byId) ?? live)
      return { place, commentIds, response: responseOf(isGood ? answered : null) }
    }
    const groupId = (data as { organizationUserGroupIds?: string[] }).organizationUserGroupIds?.[0]
    const place = {
      organizationId,
      ...(documentId === undefined ? {} : { documentId }),
      ...(groupId === undefined ? {} : { groupId }),
    }
    const users = isGood ? membersOf(this.#life.world, place) : null
    return { place, commentIds: null, response: responseOf(users) }
  }
}

/** @param records null if the call failed */
function responseOf(records: readonly unknown[] | null): ServiceResponse {
  if (records === null) return { kind: 'failed', httpStatus: null, errorStatus: null }
  const text = JSON.stringify(records)
  return { kind: 'data', items: (readJson(text) as JsonArray).items, text, paged: false }
}
