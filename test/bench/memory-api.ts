import { itemsOf, successBody } from '../../src/demo/operations.ts'
import { Random } from '../../src/demo/random.ts'
import type { World } from '../../src/demo/world.ts'
import type { Filters, Operation } from '../../src/base/operations.ts'
import { readResponse, readingTick } from '../../src/core/service/response.ts'
import type { Call, CollabApi } from '../../src/core/service/client.ts'
import { MemoryBudget } from '../../src/core/service/memory.ts'
import { shuffled } from '../service/stand-in.ts'

export interface MemoryReply {
  readonly httpStatus: number
  readonly body: Buffer
}

/**
 * The service without its network: the bytes of every answer are there before anything is measured, and the client's own
 * reader reads them, a few in each turn of the event loop as it does with those of a socket. What is left is what the
 * program itself costs.
 */
export class MemoryApi implements CollabApi {
  readonly #bodies = new Map<string, Buffer>()
  readonly memory = new MemoryBudget()

  /** Makes all answers to full listings. @param order another number gives the same content in another order */
  prepare(world: World, order: number): void {
    const random = new Random(order)
    for (const { operation, filter } of fullListings(world)) {
      const request = { operation, data: filter } as Parameters<typeof itemsOf>[1]
      const items = itemsOf(world, request) ?? []
      const ordered = order > 0 ? shuffled(items, random, true) : items
      this.#bodies.set(keyOf(operation, filter), Buffer.from(successBody(operation, ordered)))
    }
  }

  /** Every answer's bytes. */
  get bodies(): Buffer[] {
    return [...this.#bodies.values()]
  }

  waiting() {
    return null
  }

  operatorPause() {
    return null
  }

  concurrency() {
    return { permits: 0, inFlight: 0, limit: 1, waiting: 0, latencyMsEwma: null, isPaused: false }
  }

  startAfresh(): void {}

  countWaits(): void {}

  async close(): Promise<void> {}

  async get<O extends Operation>(operation: O, filter: Filters[O], call: Call = {}) {
    const { httpStatus, body } = this.replyTo(operation, filter)
    if (call.stats !== undefined) call.stats.calls += 1
    await readingTick(body.length)
    const reply = { httpStatus, retryAfterMs: null, body }
    return readResponse(reply, { operation, filter, secrets: [] }, call.knownDigest)
  }

  protected replyTo(operation: Operation, filter: Filters[Operation]): MemoryReply {
    const body = this.#bodies.get(keyOf(operation, filter))
    if (body === undefined) throw new Error(`No answer was prepared for ${JSON.stringify(filter)}.`)
    return { httpStatus: 200, body }
  }
}

function* fullListings(
  world: World,
): Generator<{ operation: Operation; filter: Filters[Operation] }> {
  for (const organizationId of world.organizationIds()) {
    yield { operation: 'users', filter: { organizationId } }
    for (const groupId of world.groupIds(organizationId)) {
      yield { operation: 'users', filter: { organizationId, organizationUserGroupIds: [groupId] } }
    }
    for (const documentId of world.documentIds(organizationId)) {
      yield { operation: 'users', filter: { organizationId, documentId } }
      for (const annotationId of world.annotationIds(organizationId, documentId)) {
        yield { operation: 'comments', filter: { organizationId, documentId, annotationId } }
      }
    }
  }
}

/** Made of the ids alone: their JSON would be a hundredth of what a first load costs. */
function keyOf(operation: Operation, filter: object): string {
  const { organizationId, documentId, annotationId, organizationUserGroupIds }: Ids = filter
  return `${operation} ${organizationId} ${documentId} ${annotationId ?? organizationUserGroupIds?.[0]}`
}

interface Ids {
  readonly organizationId?: string
  readonly documentId?: string
  readonly annotationId?: string
  readonly organizationUserGroupIds?: readonly string[]
}
