import type { Gate, Outcome } from './gate.ts'

/** The permit of one call, and how long the service took with it. */
export class Permit {
  readonly #gate: Gate
  #since = 0
  #sentAt: number | null = null
  #answeredAt: number | null = null
  #isHeld = true

  constructor(gate: Gate) {
    this.#gate = gate
  }

  /** Zero for a call that was never made. */
  get serviceMs(): number {
    if (this.#sentAt === null) return 0
    return (this.#answeredAt ?? performance.now()) - this.#sentAt
  }

  /** What the call waited for its slot; null for one that was never made. */
  get waitedMs(): number | null {
    return this.#sentAt === null ? null : this.#sentAt - this.#since
  }

  waitsForSlot(): void {
    this.#since = performance.now()
  }

  /** The call is made. @returns the milliseconds that it waited for its slot */
  sent(): number {
    this.#sentAt = performance.now()
    return this.#sentAt - this.#since
  }

  /** @param heldUpMs what of its time was our doing */
  answered(heldUpMs: number): void {
    this.#answeredAt = performance.now() - heldUpMs
  }

  /** Before it is known how the call went. */
  giveBack(): void {
    this.#isHeld = false
    this.#gate.leave('other', 0)
  }

  ended(outcome: Outcome): void {
    this.#answeredAt ??= performance.now()
    if (this.#isHeld) this.#gate.leave(outcome, this.serviceMs)
    else this.#gate.learn(outcome, this.serviceMs)
  }
}
