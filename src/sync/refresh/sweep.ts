import { readScopes } from '../../database/scopes.ts'
import type { BatchScope } from '../../database/scopes.ts'
import * as refresh from '../../database/statements/refresh.ts'
import { SupersededError } from '../claim.ts'
import type { BatchToSweep, RefreshPage } from './pass.ts'
import { claimLooks, LookedAtBatch } from './looked-at-batch.ts'
import { LooksSoFar } from './looking.ts'
import type { BeginLook, Looking, NotedFailures } from './looking.ts'

/**
 * Batches that are looked at as a whole, a portion of their scopes at a time: between two portions other threads are looked at.
 * The time of check of a batch is when it was handed out.
 */
export class SweptPage {
  readonly page: RefreshPage
  readonly #looking: Looking
  readonly #noted: NotedFailures
  readonly #soFar = new LooksSoFar()
  readonly #waiting: BatchToSweep[]
  readonly #ending: Promise<void>[] = []
  #batch: SweptBatch | null = null
  #failure: { readonly error: unknown } | null = null

  /** @param noted what failed today */
  constructor(looking: Looking, page: RefreshPage, noted: NotedFailures) {
    this.#looking = looking
    this.#noted = noted
    this.page = page
    this.#waiting = [...page.batches]
  }

  /** Scopes of which no look is begun, as far as known; 0 where the page is to be ended. */
  get left(): number {
    if (this.#failure !== null) return 0
    const waiting = this.#waiting.reduce((sum, { scopes }) => sum + Math.max(1, scopes), 0)
    return waiting + (this.#batch === null ? 0 : Math.max(1, this.#batch.left))
  }

  /** Begins looks. @returns how many of those that were granted are left */
  async begin(granted: number, begin: BeginLook): Promise<number> {
    let left = granted
    while (left > 0 && this.left > 0) {
      this.#batch ??= await this.#open(this.#waiting.shift() as BatchToSweep)
      if (await this.#batch.begin(begin)) left -= 1
      if (this.#batch.left > 0) continue
      const batch = this.#batch
      this.#batch = null
      this.#ending.push(this.#end(batch, begin).catch((error: unknown) => this.failed(error)))
    }
    return left
  }

  /** Ends it early: what was answered is committed, the page is given back. */
  failed(error: unknown): void {
    this.#failure ??= { error }
  }

  /** Waits for its looks. @throws what ended one of them and is no failure of its scope, or that not all are made */
  async end(begin?: BeginLook): Promise<LooksSoFar> {
    if (begin === undefined) this.failed(new Error('The worker is stopping.'))
    await this.#batch?.giveUp()
    await Promise.all(this.#ending)
    if (this.#failure !== null) throw this.#failure.error
    return this.#soFar
  }

  /** @param only places of the scopes to look at; all when left out */
  async #open(batch: BatchToSweep, only?: ReadonlySet<number>): Promise<SweptBatch> {
    const { context } = this.#looking
    const { database } = context
    const { batchKey, operation } = batch
    const { at } = this.page
    const [current = batch] = await refresh.batchesByKey.all(database, { keys: [batchKey] })
    const claim = await claimLooks(this.#looking, at)
    const all = await readScopes(database, batchKey, operation)
    const scopes = only === undefined ? all : all.filter(({ scopeNo }) => only.has(scopeNo))
    const keys = scopes.map(({ key }) => key)
    const recent = operation === 'comments' ? await refresh.recentAmong.all(database, { keys }) : []
    const whole = { ...claim, batchKey, operation, batchXmin: current.batchXmin, onlyScopes: null }
    const of = new LookedAtBatch(this.#looking, this.#soFar, whole, {
      ...batch,
      priority: 'normal',
    })
    return new SweptBatch(this.#looking, this.#soFar, of, {
      batch,
      at,
      scopes,
      noted: this.#noted,
      recent: new Set(recent.map(({ key }) => key)),
    })
  }

  /**
   * Commits the batch. Where another claim wrote to it meanwhile, what was to be written is asked for again; a look that found
   * nothing has nothing that could be older than what is stored.
   */
  async #end(first: SweptBatch, begin: BeginLook): Promise<void> {
    for (let batch = first; ;) {
      const again = await batch.end()
      if (again === null) return
      batch = await this.#open(batch.batch, again)
      while (batch.left > 0) await batch.begin(begin)
    }
  }
}

interface OpenBatch {
  readonly batch: BatchToSweep
  readonly at: Date
  readonly scopes: readonly BatchScope[]
  readonly noted: NotedFailures
  /** Keys of those that changed lately, and are looked at by themselves too. */
  readonly recent: ReadonlySet<number>
}

/** One batch under one claim. */
class SweptBatch {
  readonly batch: BatchToSweep
  readonly #looking: Looking
  readonly #soFar: LooksSoFar
  readonly #of: LookedAtBatch
  readonly #open: OpenBatch
  readonly #begun: Promise<void>[] = []
  /** Places of the scopes whose answer is to be written. */
  readonly #added = new Set<number>()
  #failure: { readonly error: unknown } | null = null

  constructor(looking: Looking, soFar: LooksSoFar, of: LookedAtBatch, open: OpenBatch) {
    this.#looking = looking
    this.#soFar = soFar
    this.#of = of
    this.#open = open
    this.batch = open.batch
  }

  get left(): number {
    return this.#failure === null ? this.#open.scopes.length - this.#begun.length : 0
  }

  /** Begins to look at its next scope. @returns false where none is left */
  async begin(begin: BeginLook): Promise<boolean> {
    const scope = this.left > 0 ? this.#open.scopes[this.#begun.length] : undefined
    if (scope === undefined) return false
    try {
      const { ended } = await begin(() => this.#look(scope))
      this.#begun.push(ended.catch((error: unknown) => this.#fail(error)))
    } catch (error) {
      this.#fail(error)
    }
    return true
  }

  /**
   * Commits.
   * @returns null; where another claim wrote to the batch, the places of the scopes to ask for again
   * @throws what ended a look and is no failure of its scope
   */
  async end(): Promise<ReadonlySet<number> | null> {
    await Promise.all(this.#begun)
    try {
      if (this.#failure !== null) throw this.#failure.error
      await this.#of.end()
      return null
    } catch (error) {
      if (error instanceof SupersededError) return this.#added
      throw error
    } finally {
      this.#of.close()
    }
  }

  /** Waits for what is begun, and commits nothing more. */
  async giveUp(): Promise<void> {
    await Promise.all(this.#begun)
    this.#of.close()
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
  }

  async #look(scope: BatchScope): Promise<void> {
    const { at, batch, noted, recent } = this.#open
    const result = await this.#of.ask(scope)
    const outcome = 'fault' in result ? 'failed' : result.outcome
    const looked = outcome === 'unchanged' || outcome === 'failed' ? outcome : 'found'
    if (outcome === 'unchanged' && !scope.hasOwnCheck) this.#soFar.unchanged(scope)
    else if (looked === 'failed' && noted.has(scope)) this.#soFar.failedAgain()
    else {
      noted.note(scope, looked === 'failed')
      this.#added.add(scope.scopeNo)
      this.#of.add(scope, result)
    }
    // What threads are looked at by themselves too tells nothing of the others.
    const isMeasured = batch.checkedAt !== null && !recent.has(scope.key)
    this.#soFar.learn(looked, isMeasured ? at.getTime() - Number(batch.checkedAt) : null)
    this.#looking.looked(looked, scope.organizationKey)
  }
}
