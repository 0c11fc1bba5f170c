import type { Claim } from '../database/claims.ts'

/** Scopes a batch can hold: the width of the bit strings in `sync.run_items`. */
const BATCH_SCOPES = 256

/** Which scopes of a batch are wanted and which are committed, as bits. */
export class DoneScopes {
  readonly #only: string | null
  #done: string

  constructor(claim: Pick<Claim, 'onlyScopes' | 'doneScopes'>) {
    this.#only = claim.onlyScopes
    this.#done = claim.doneScopes ?? '0'.repeat(BATCH_SCOPES)
  }

  /** True where the scope is asked for by the item and not committed yet. */
  isWanted(scopeNo: number): boolean {
    return this.#done[scopeNo] !== '1' && (this.#only === null || this.#only[scopeNo] === '1')
  }

  /** The bits as they will be once these scopes are committed too. */
  bitsWith(scopeNos: readonly number[]): string {
    const bits = [...this.#done]
    for (const scopeNo of scopeNos) bits[scopeNo] = '1'
    return bits.join('')
  }

  /** Takes the bits over, once they are committed. */
  committed(bits: string): void {
    this.#done = bits
  }
}
