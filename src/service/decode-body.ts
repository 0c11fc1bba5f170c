import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { callFailure } from './errors.ts'
import type { Asked } from './errors.ts'
import type { Reply } from './exchange.ts'

/**
 * Undoes `content-encoding` (RFC 9110, 8.4). We ask for none, but a proxy may encode all the same.
 * @param maxBytes most bytes of the decoded body
 * @throws CallError where the encoding is none that is known here, the body is damaged, or it is larger than it may be
 */
export async function decodeBody(reply: Reply, asked: Asked, maxBytes: number): Promise<Reply> {
  const { httpStatus, retryAfterMs } = reply
  const fail = (shape: 'body_unreadable' | 'body_too_large', detail: string, cause?: unknown) =>
    callFailure(asked, { httpStatus, retryAfterMs, shape, detail, cause })
  // The last one named was put on last.
  const encodings = (reply.encoding ?? '').toLowerCase().split(',').reverse()
  if (encodings.length > ENCODINGS_MAX)
    throw fail('body_unreadable', `content-encoding names ${encodings.length} encodings`)
  let body = reply.body
  for (const encoding of encodings.map((each) => each.trim())) {
    if (encoding === '' || encoding === 'identity') continue
    const decode = DECODERS.get(encoding)
    if (decode === undefined)
      throw fail(
        'body_unreadable',
        `content-encoding ${JSON.stringify(encoding)} is not known here`,
      )
    try {
      body = await decode(body, { maxOutputLength: maxBytes })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
        throw fail('body_too_large', `an answer above ${maxBytes} bytes when decoded`, error)
      throw fail('body_unreadable', `no ${encoding} (${reply.body.length} bytes)`, error)
    }
  }
  if (body === reply.body) return { ...reply, encoding: undefined }
  reply.release?.()
  return { httpStatus, retryAfterMs, body }
}

/** Encodings on top of each other; each may make little into much. */
const ENCODINGS_MAX = 3

type Decode = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const [gunzipped, inflated, inflatedRaw, brotliDecoded] = [
  promisify(gunzip) as Decode,
  promisify(inflate) as Decode,
  promisify(inflateRaw) as Decode,
  promisify(brotliDecompress) as Decode,
]

/** First byte of the zlib format with its usual window; some servers send deflate without that format around it. */
const ZLIB_HEADER = 0x78

const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ['gzip', gunzipped],
  ['x-gzip', gunzipped],
  ['br', brotliDecoded],
  ['deflate', (body, options) => (body[0] === ZLIB_HEADER ? inflated : inflatedRaw)(body, options)],
])
