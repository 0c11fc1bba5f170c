/** How far apart calls are kept, and how much of a delay may be made up for. Milliseconds. */
export interface Spacing {
  readonly intervalMs: number
  readonly toleranceMs: number
}

/** What a store answers to a wish for slots, in durations: two machines' clocks are never compared. */
export interface Taken {
  /** Above 0 while a pause lasts; then no slot was reserved. */
  readonly pauseMs: number
  /** From now to the first slot, the others follow at `intervalMs`; below 0 for one that is late. */
  readonly waitMs: number
}

/**
 * What processes share to keep one pace: the time of the next free slot and the end of the pause, by the
 * store's own clock. Each function is one atomic step.
 */
export interface PaceStore {
  /** Reserves `slots` following slots. */
  take(slots: number, spacing: Spacing): Promise<Taken>
  /** Pauses all for `ms` from now; a longer pause stays. */
  pause(ms: number): Promise<void>
  /** Milliseconds that the pause still lasts; 0 without one. */
  pauseMs(): Promise<number>
}

/**
 * The longest pause that is believed: a longer one is left from before a clock was set back, and nothing
 * may wait for it. Well above any `SYNC_RETRY_AFTER_MAX_MS`.
 */
export const MAX_PAUSE_MS = 3_600_000

/** The furthest that a free slot is believed to be away, for the same reason. */
export const MAX_AHEAD_MS = 60_000
