import { OPERATIONS } from '../../src/base/operations.ts'
import type { StandIn } from './stand-in.ts'
import type { Operation } from '../../src/base/operations.ts'

interface Body {
  result?: { status: string; message: string; data: unknown[]; nextPageToken?: string }
  error?: { message: string; status: string }
}

/** One call with good headers; the answer as text and, where it is JSON, parsed. */
export async function call(
  standIn: Pick<StandIn, 'url' | 'apiKey' | 'authToken'>,
  operation: Operation,
  data: unknown,
  request: RequestInit = {},
): Promise<{ status: number; text: string; body: Body; headers: Headers }> {
  const response = await fetch(standIn.url + OPERATIONS[operation].path, {
    method: 'POST',
    redirect: 'manual',
    body: JSON.stringify({ data }),
    ...request,
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': standIn.apiKey,
      'x-service-auth-token': standIn.authToken,
      ...(request.headers as Record<string, string>),
    },
  })
  const text = await response.text()
  return { status: response.status, text, body: parsed(text), headers: response.headers }
}

/** The items of a success. */
export async function listed(
  standIn: StandIn,
  operation: Operation,
  data: unknown,
): Promise<unknown[]> {
  const { status, text, body } = await call(standIn, operation, data)
  if (status !== 200 || !body.result) throw new Error(`answered ${status}: ${text}`)
  return body.result.data
}

function parsed(text: string): Body {
  try {
    return JSON.parse(text) as Body
  } catch {
    return {}
  }
}
