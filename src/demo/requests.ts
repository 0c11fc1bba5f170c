import * as z from 'zod'
import type { Operation } from '../base/operations.ts'
import { STAND_IN_OPERATIONS } from './operations.ts'

/** A call as docs/SERVICE.md documents it. `body` is as received. */
export type StandInRequest<O extends Operation = Operation> = {
  [Each in O]: {
    operation: Each
    data: z.output<(typeof STAND_IN_OPERATIONS)[Each]['data']>
    body: string
  }
}[O]

/** Reads a request body. @returns the request, or a sentence that says how it violates docs/SERVICE.md */
export function readRequest(operation: Operation, body: string): StandInRequest | string {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return 'the body is not JSON'
  }
  const { success, data, error } = z
    .strictObject({ data: STAND_IN_OPERATIONS[operation].data })
    .safeParse(json)
  return success ? ({ operation, ...data, body } as StandInRequest) : z.prettifyError(error)
}
