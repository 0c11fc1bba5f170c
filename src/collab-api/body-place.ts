import type { BodyRoom } from './body-room.ts'

/** Where a large body waits until it may come. */
export interface LargePlace {
  /** Never rejects. @param bytes of the body */
  enter(bytes: number): Promise<void>
}

export const NO_WAIT: LargePlace = { enter: () => Promise.resolve() }

/** The place of one call's body, if it is a large one. */
export class BodyPlace implements LargePlace {
  readonly #room: BodyRoom
  readonly #further: () => Promise<void> | null
  #leave: () => void = () => {}
  /** How long the body was held up. */
  heldUpMs = 0

  /** @param further what to wait for besides when there is room: null for nothing; its failure is as good as its end */
  constructor(room: BodyRoom, further: () => Promise<void> | null) {
    this.#room = room
    this.#further = further
  }

  /** Waits until a body of so many bytes may come; never rejects. */
  async enter(bytes: number): Promise<void> {
    const since = performance.now()
    await new Promise<void>((resolve) => (this.#leave = this.#room.take(bytes, resolve)))
    await this.#further()?.catch(() => {})
    this.heldUpMs = performance.now() - since
  }

  /** The body was read, or is not coming any more. */
  leave(): void {
    this.#leave()
  }
}
