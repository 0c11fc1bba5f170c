import { readScopes } from '../../database/scopes.ts'
import type { BatchScope } from '../../database/scopes.ts'
import * as refresh from '../../database/statements/refresh.ts'
import { allEnded } from './look.ts'
import { claimLooks, LookedAtBatch } from './looked-at-batch.ts'
import { LooksSoFar } from './looking.ts'
import type { BeginLook, Looking } from './looking.ts'
import type { BatchToSweep, RefreshPage } from './pass.ts'

/** A batch under one claim. */
interface OpenBatch {
  readonly batch: BatchToSweep
  readonly looks: LookedAtBatch
  /** Scopes of which no look is begun. */
  readonly scopes: BatchScope[]
  readonly begun: Promise<void>[]
  /** Keys of those that changed lately, and are fetched by themselves too. */
  readonly recent: ReadonlySet<number>
}

/**
 * Batches that are fetched as a whole, a portion of their scopes at a time: between two portions other threads are fetched.
 * The time of check of a batch is when it was handed out.
 */
export class SweptPage {
  readonly page: RefreshPage
  readonly #looking: Looking
  readonly #soFar = new LooksSoFar()
  readonly #waiting: BatchToSweep[]
  readonly #ending: Promise<void>[] = []
  #open: OpenBatch | null = null
  #failure: { readonly error: unknown } | null = null

  constructor(looking: Looking, page: RefreshPage) {
    this.#looking = looking
    this.page = page
    this.#waiting = [...page.batches]
  }

  /** Whether all its looks are begun, or none is begun any more. */
  get isBegun(): boolean {
    return this.#failure !== null || (this.#open === null && this.#waiting.length === 0)
  }

  /** Begins looks. @returns how many of those that were granted are left */
  async begin(granted: number, begin: BeginLook): Promise<number> {
    let left = granted
    try {
      while (left > 0 && !this.isBegun) {
        const open = (this.#open ??= await this.#claim(this.#waiting.shift() as BatchToSweep))
        if (open.scopes.length > 0) left -= 1
        await this.#beginLook(open, begin)
        if (open.scopes.length > 0) continue
        this.#open = null
        this.#ending.push(this.#end(open, begin).catch((error: unknown) => this.failed(error)))
      }
    } catch (error) {
      this.failed(error)
    }
    return left
  }

  /** Ends it early: batches of which all looks are begun are committed, the page is given back. */
  failed(error: unknown): void {
    this.#failure ??= { error }
  }

  /** Waits for its looks. @throws what ended one of them and is no failure of its scope */
  async end(): Promise<LooksSoFar> {
    await Promise.allSettled(this.#open?.begun ?? [])
    this.#open?.looks.close()
    await Promise.all(this.#ending)
    if (this.#failure !== null) throw this.#failure.error
    return this.#soFar
  }

  /** @param only places of the scopes to fetch; all when left out */
  async #claim(batch: BatchToSweep, only?: ReadonlySet<number>): Promise<OpenBatch> {
    const { database } = this.#looking.context
    const { batchKey, operation } = batch
    const [current = batch] = await refresh.batchesByKey.all(database, { keys: [batchKey] })
    const drawn = await claimLooks(this.#looking, this.page.at)
    const all = await readScopes(database, batchKey, operation)
    const scopes = only === undefined ? all : all.filter(({ scopeNo }) => only.has(scopeNo))
    const keys = scopes.map(({ key }) => key)
    const recent = operation === 'comments' ? await refresh.recentAmong.all(database, { keys }) : []
    const claim = { ...drawn, batchKey, operation, batchXmin: current.batchXmin, onlyScopes: null }
    const looks = new LookedAtBatch(this.#looking, this.#soFar, claim, 'normal')
    return { batch, looks, scopes, begun: [], recent: new Set(recent.map(({ key }) => key)) }
  }

  /** Begins to fetch the batch's next scope, if there is one. */
  async #beginLook(open: OpenBatch, begin: BeginLook): Promise<void> {
    const scope = open.scopes.shift()
    if (scope === undefined) return
    const { ended } = await begin(() => this.#look(open, scope))
    ended.catch((error: unknown) => this.failed(error))
    open.begun.push(ended)
  }

  async #look({ batch, looks, recent }: OpenBatch, scope: BatchScope): Promise<void> {
    const looked = await looks.look(scope)
    // What threads are fetched by themselves too tells nothing of the others.
    const isMeasured = batch.checkedAt !== null && !recent.has(scope.key)
    const gapMs = isMeasured ? this.page.at.getTime() - Number(batch.checkedAt) : null
    this.#soFar.learn(looked, gapMs)
    this.#looking.looked(looked, scope.organizationKey)
  }

  /**
   * Commits a batch. Where another claim wrote to it meanwhile, what was to be written is fetched again; a look that found
   * nothing has nothing that could be older than what is stored.
   */
  async #end(open: OpenBatch, begin: BeginLook): Promise<void> {
    let again: ReadonlySet<number> | null
    try {
      await allEnded(open.begun)
      again = await open.looks.end()
    } finally {
      open.looks.close()
    }
    if (again === null) return
    const next = await this.#claim(open.batch, again)
    try {
      while (next.scopes.length > 0) await this.#beginLook(next, begin)
    } catch (error) {
      next.begun.push(Promise.reject(error as Error))
    }
    await this.#end(next, begin)
  }
}
