import type { Operation } from '../base/errors.ts'

/** A call as service-api.md documents it. */
export type StandInRequest = UsersRequest | CommentsRequest

export interface UsersRequest {
  operation: 'users'
  data: {
    organizationId: string
    documentId?: string
    userIds?: string[]
    organizationUserGroupIds?: string[]
  }
  /** The body as received; names the call when the same one is made again. */
  body: string
}

export interface CommentsRequest {
  operation: 'comments'
  data: { organizationId: string; documentId: string; annotationId: string; commentIds?: number[] }
  body: string
}

/** service-api.md, Endpoints. */
export const PATHS: Record<Operation, string> = {
  users: '/v1/users/get',
  comments: '/v1/commentannotations/comments/get',
}

/** The combinations that service-api.md allows, members in alphabetical order. */
const COMBINATIONS: Record<Operation, ReadonlySet<string>> = {
  users: new Set([
    'organizationId',
    'documentId,organizationId',
    'organizationId,userIds',
    'documentId,organizationId,userIds',
    'organizationId,organizationUserGroupIds',
    'organizationId,organizationUserGroupIds,userIds',
  ]),
  comments: new Set([
    'annotationId,documentId,organizationId',
    'annotationId,commentIds,documentId,organizationId',
  ]),
}

/** Of one filter. */
const MOST_IDS = 30

/**
 * Reads a request body strictly. Gives the request, or a sentence on what is outside
 * service-api.md. `userIds` on Get Comments counts as outside: its effect is not shown.
 */
export function readRequest(operation: Operation, body: string): StandInRequest | string {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return 'the body is not JSON'
  }
  if (!isObject(parsed)) return 'the body is not one JSON object'
  const members = Object.keys(parsed)
  if (members.length !== 1 || members[0] !== 'data') {
    return `the body's members are ${members.join(', ') || 'none'}, not data alone`
  }
  const { data } = parsed
  if (!isObject(data)) return 'data is not an object'
  const names = Object.keys(data).sort().join(',')
  if (!COMBINATIONS[operation].has(names)) {
    return `data holds ${names || 'nothing'}, which is no documented combination`
  }
  for (const [name, value] of Object.entries(data)) {
    const fault = memberFault(name, value)
    if (fault !== undefined) return `${name} ${fault}`
  }
  return { operation, data, body } as unknown as StandInRequest
}

function memberFault(name: string, value: unknown): string | undefined {
  if (!name.endsWith('Ids')) {
    if (typeof value !== 'string') return 'is not a string'
    return value === '' ? 'is empty' : undefined
  }
  if (!Array.isArray(value)) return 'is not an array'
  if (value.length === 0) return 'is an empty array'
  if (value.length > MOST_IDS) return `holds ${value.length} ids, more than ${MOST_IDS}`
  const isGood = name === 'commentIds' ? Number.isSafeInteger : isFilledString
  const bad = value.find((id) => !isGood(id)) as unknown
  return bad === undefined ? undefined : `holds ${JSON.stringify(bad)}`
}

function isFilledString(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
