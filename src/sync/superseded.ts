/**
 * Another claim has written to the batch while this work was in hand: answers may be older than what is stored, or were
 * compared with what is stored no more, so they are thrown away and asked again under a new claim.
 */
export class SupersededError extends Error {
  override name = 'SupersededError'
}
