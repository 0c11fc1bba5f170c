/** A worker without a heartbeat for so long is taken for dead; six heartbeats. */
export const DEAD_AFTER_S = 30
