import { hash } from 'node:crypto'
import { isLosslessNumber } from 'lossless-json'
import { shortDigest } from '../collab-api/short-digest.ts'

/**
 * Raised when what a record's columns are made of changes: every stored digest then differs once, so that
 * the next run looks at every record again.
 */
export const DIGEST_FORMAT = '2'

/** A digest of a text. */
export function digestOf(text: string): Buffer {
  return shortDigest(hash('sha256', DIGEST_FORMAT + text, 'binary'))
}

/** One digest for many, in the order given. */
export function digestOfDigests(digests: readonly Buffer[]): Buffer {
  return shortDigest(hash('sha256', Buffer.concat(digests), 'binary'))
}

/** JSON with the keys of every object in order, so that equal content gives equal text. Numbers may be lossless ones. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (isLosslessNumber(value)) return value.value
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join()}}`
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
