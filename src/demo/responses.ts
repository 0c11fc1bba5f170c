import { OPERATIONS } from '../base/operations.ts'
import type { Operation } from '../base/operations.ts'
import { STAND_IN_OPERATIONS } from './operations.ts'
import type { StandInOperation } from './operations.ts'
import type { StandInRequest } from './requests.ts'
import type { World } from './world.ts'

/** JSON texts of the items of `result.data`; undefined if the organization, document or annotation is unknown. */
export function itemsOf(world: World, request: StandInRequest): string[] | undefined {
  return recordsOf(world, request)?.map((record) => JSON.stringify(record))
}

function recordsOf(world: World, { operation, data }: StandInRequest) {
  const { records }: StandInOperation = STAND_IN_OPERATIONS[operation]
  return records(world, data)
}

/** A success body around items that are JSON texts. */
export function successBody(operation: Operation, items: readonly string[]): string {
  return `{"result":{"status":"success","message":"${STAND_IN_OPERATIONS[operation].message}","data":[${items.join(',')}]}}`
}

/**
 * A failure body. docs/SERVICE.md shows its shape and message for Get Users only; the same shape
 * for Get Comments is our guess.
 */
export function errorBody(operation: Operation, status: string): string {
  const message = `Error retrieving ${OPERATIONS[operation].record}(s).`
  return JSON.stringify({ error: { message, status } })
}
