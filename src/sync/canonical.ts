import { hash } from 'node:crypto'
import { isLosslessNumber, parse } from 'lossless-json'
import { shortDigest } from '../collab-api/short-digest.ts'
import type { ScopeIds } from '../database/scopes.ts'
import type { Operation } from '../errors.ts'

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

/**
 * By what a rejected record is known again: its scope and its content, whatever the order of its members. Null where its
 * text is not known.
 */
export function digestOfRejected(
  operation: Operation,
  { organizationId, documentId, annotationId, organizationUserGroupId }: ScopeIds,
  record: string,
): Buffer | null {
  if (record === '') return null
  const ids = [organizationId, documentId, annotationId, organizationUserGroupId]
  const place = JSON.stringify([operation, ...ids])
  return shortDigest(hash('sha256', place + canonicalText(record), 'binary'))
}

/** Of a longer text its very characters count: to read it exactly would hold up whoever waits for the commit. */
const CANONICAL_UNITS_MAX = 100_000

/** The text itself where it is long, nested too deep to be read, or no JSON. */
function canonicalText(json: string): string {
  if (json.length > CANONICAL_UNITS_MAX) return json
  try {
    // Of two members with one name JSON.parse takes the last.
    return canonicalJson(parse(json, null, { onDuplicateKey: ({ newValue }) => newValue }))
  } catch {
    return json
  }
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
