import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { OPERATION_NAMES, OPERATIONS } from '../../../src/base/operations.ts'
import type { Filters, Operation } from '../../../src/base/operations.ts'

import type { CatalogLine } from '../../../src/demo/catalog.ts'
import { errorBody, successBody } from '../../../src/demo/operations.ts'
import { World } from '../../../src/demo/world.ts'
import { MemoryApi } from '../memory-api.ts'
import type { MemoryReply } from '../memory-api.ts'

/** Annotations of a document. */
const OF_DOCUMENT = 50
/** Documents of an organization that is not the large one. */
const OF_ORGANIZATION = 18
const GROUPS = 2
/** The response to annotation k is that of k modulo this number. */
const PATTERNS = 4096

/**
 * Responses for any number of annotations, from a few patterns. One organization has a tenth of the annotations and a user for
 * each 200 annotations; each of the others has 900 annotations and 45 users. Responses change with the number of the night.
 */
export class LargeService extends MemoryApi {
  readonly annotations: number
  /** 0 during the first load. Later, one annotation in 20 has an edited comment, one in 100 lacks one, and one in 5,000 fails. */
  night = 0
  readonly #comments: readonly (readonly string[])[]
  readonly #users: Record<'large' | 'small', MemoryReply>
  readonly #documentUsers: readonly MemoryReply[]

  /** @param annotations a multiple of 10,000 */
  constructor(annotations: number) {
    super()
    this.annotations = annotations
    const world = worldOf(45)
    const [organizationId = ''] = world.organizationIds()
    const documentIds = [...world.documentIds(organizationId)]
    this.#comments = documentIds.flatMap((documentId) =>
      [...world.annotationIds(organizationId, documentId)].map((annotationId) =>
        (world.comments({ organizationId, documentId, annotationId }) ?? []).map((comment) =>
          JSON.stringify(comment),
        ),
      ),
    )
    this.#documentUsers = documentIds
      .slice(0, 16)
      .map((documentId) => usersReply(world.documentUsers(organizationId, documentId)))
    this.#users = {
      large: usersReply(worldOf(annotations / 200).users(organizationId)),
      small: usersReply(world.users(organizationId)),
    }
  }

  *catalog(): Generator<CatalogLine> {
    let annotation = 0
    for (let organization = 0; annotation < this.annotations; organization++) {
      const organizationId = idOf('org', organization)
      yield { organizationId }
      for (let group = 0; group < (organization === 0 ? 25 * GROUPS : GROUPS); group++)
        yield { organizationId, organizationUserGroupId: idOf('group', group) }
      const documents = organization === 0 ? this.annotations / (10 * OF_DOCUMENT) : OF_ORGANIZATION
      for (let n = 0; n < documents && annotation < this.annotations; n++) {
        const documentId = idOf('doc', annotation / OF_DOCUMENT)
        yield { organizationId, documentId }
        for (let end = annotation + OF_DOCUMENT; annotation < end; annotation++)
          yield { organizationId, documentId, annotationId: idOf('an', annotation) }
      }
    }
  }

  /** Serves the same responses over HTTP, and accepts notifications. */
  async listen() {
    const server = createServer(async (request, response) => {
      const operation = OPERATION_NAMES.find((name) => OPERATIONS[name].path === request.url)
      const { data } = (await json(request)) as { data: Filters[Operation] }
      const { httpStatus, body } =
        operation === undefined ? reply('{}') : this.replyTo(operation, data)
      response.writeHead(httpStatus, { 'content-type': 'application/json' }).end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
  }

  protected override replyTo(_: Operation, filter: Filters[Operation]): MemoryReply {
    if ('annotationId' in filter) return this.#commentsReply(filter)
    if ('documentId' in filter && filter.documentId !== undefined)
      return this.#documentUsers[numberOf(filter.documentId) % 16] as MemoryReply
    const isLarge = filter.organizationId === idOf('org', 0)
    return this.#users[isLarge && !('organizationUserGroupIds' in filter) ? 'large' : 'small']
  }

  #commentsReply({ annotationId, commentIds }: Filters['comments']): MemoryReply {
    const annotation = numberOf(annotationId)
    const pattern = this.#comments[annotation % PATTERNS] as readonly string[]
    if (this.night > 0 && annotation % 5000 === 7)
      return { httpStatus: 500, body: Buffer.from(errorBody('comments', 'INTERNAL')) }
    const isEdited = this.night > 0 && annotation % 20 === 3
    const isDeleted = this.night > 0 && annotation % 100 === 11
    const items = isDeleted ? pattern.slice(1) : isEdited ? pattern.map(edited) : pattern
    if (commentIds === undefined) return reply(successBody('comments', items))
    return reply(
      successBody(
        'comments',
        commentIds.map(() => 'null'),
      ),
    )
  }
}

export function idOf(noun: 'org' | 'group' | 'doc' | 'an', index: number): string {
  return `${noun}-${String(index).padStart(9, '0')}`
}

function numberOf(id: string): number {
  return Number(id.slice(id.indexOf('-') + 1))
}

function worldOf(users: number) {
  return new World({
    seed: 1,
    organizations: 1,
    documentsPerOrganization: 64,
    annotationsPerDocument: PATTERNS / 64,
    commentsPerAnnotation: 1.5,
    usersPerOrganization: users,
    groupsPerOrganization: GROUPS,
    now: new Date(),
  })
}

function usersReply(users: readonly unknown[] = []): MemoryReply {
  return reply(
    successBody(
      'users',
      users.map((user) => JSON.stringify(user)),
    ),
  )
}

function reply(text: string): MemoryReply {
  return { httpStatus: 200, body: Buffer.from(text) }
}

function edited(comment: string, index: number): string {
  if (index > 0) return comment
  const record = JSON.parse(comment)
  return JSON.stringify({ ...record, commentText: `${record.commentText} (edited)` })
}
