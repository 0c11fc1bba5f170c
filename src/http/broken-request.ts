import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/** Answers what is no HTTP, or too large or too slow to be read, with a problem document, and hangs up. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error)
    return
  }
  const [status, detail] = ANSWERS[error.code ?? ''] ?? [400, 'The request is not HTTP.']
  const title = STATUS_CODES[status] ?? 'Bad Request'
  const body = JSON.stringify({ type: 'about:blank', title, status, detail, instance: '' })
  socket.end(
    [
      `HTTP/1.1 ${status} ${title}`,
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

const ANSWERS: Record<string, [status: number, detail: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not come in time.'],
}
