/**
 * Tells every batch in hand that PostgreSQL is away, as soon as one of them finds out: what they would go on asking the
 * service for could not be committed, and would be asked for again.
 */
export class StoreSignal {
  #controller = new AbortController()

  /** Aborts when the store is lost; for work that begins now. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Gives up the work that has begun. Work that begins later finds out for itself whether the store is back. */
  lost(error: unknown): void {
    this.#controller.abort(error)
    this.#controller = new AbortController()
  }
}
