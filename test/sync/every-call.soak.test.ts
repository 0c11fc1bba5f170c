import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createServer, parseAst } from 'vite'
import type { Plugin, ViteDevServer } from 'vite'
import MagicString from 'magic-string'
import { createCatalog } from '../fuzz/layout.ts'
import type * as Place from '../fuzz/place.ts'
import { startService } from '../fuzz/service.ts'
import type { Asked, Service } from '../fuzz/service.ts'

/**
 * Every call of the compiled program that is given anything of one record throws, one call after the other. Whichever it is,
 * the run ends, and nothing but that record, or its scope, is missing.
 */

/** Stands in the marked record of each organization; the number tells which. */
const mark = (organization: number) => `marked-${organization}-record`
const MARKS = /marked-(\d+)-record/g
const ROOT = join(import.meta.dirname, '../..')
/** Calls that see the record are some two hundred for each way; an organization for each. */
const LAYOUT = { organizations: 400, documents: 1, annotations: 3, groups: 0 }
const RECORDING = 0

/** Which call throws for which organization's record, and whether it did. */
const targets = new Map<number, { readonly call: string; thrown: number }>()
/** Calls that were given something of the recording organization's record. */
const seen = new Set<string>()

let server: ViteDevServer
let service: Service
/** Whether the answers hold the marked records. */
let isMarked = false

beforeAll(async () => {
  Object.assign(globalThis, {
    __beforeCall: (call: string, values: unknown[], subject?: unknown) => {
      for (const organization of marksIn([values, subject])) {
        if (organization === RECORDING) seen.add(call)
        const target = targets.get(organization)
        if (target?.call !== call) continue
        target.thrown += 1
        throw new TypeError('thrown by the test')
      }
      return values
    },
  })
  server = await createServer({
    configFile: false,
    root: ROOT,
    appType: 'custom',
    logLevel: 'error',
    server: { middlewareMode: true, watch: null, ws: false },
    optimizeDeps: { noDiscovery: true },
    plugins: [instrument()],
  })
  service = await startService()
  service.answer = (asked) => {
    const plain = { httpStatus: 200, encoding: null, isChunked: false, isCut: false }
    return { ...plain, bytes: Buffer.from(bodyOf(asked)) }
  }
})
afterAll(async () => {
  await service?.close()
  await server?.close()
})

test.each(['of a new record', 'of a changed record'])(
  'whichever call %s throws, the run ends and the neighbours of the record are in',
  async (what) => {
    const { openProgram } = await load()
    const database = await createCatalog(LAYOUT)
    const program = await openProgram(database.url, service.url)
    try {
      isMarked = false
      targets.clear()
      seen.clear()
      if (what === 'of a changed record') await program.run()
      isMarked = true
      await program.run({ organizationIds: [`o${RECORDING}`] })
      const calls = [...seen]
      // So many see the record; fewer would mean that the program is not instrumented.
      expect(calls.length).toBeGreaterThan(100)
      expect(calls.length).toBeLessThan(LAYOUT.organizations)
      calls.forEach((call, index) => targets.set(index + 1, { call, thrown: 0 }))
      const organizationIds = [...targets.keys()].map((organization) => `o${organization}`)

      const runId = await program.run({ organizationIds })

      // Some saw the record in memory only that a buffer had before.
      const thrown = [...targets.values()].filter((target) => target.thrown > 0)
      expect(thrown.length).toBeGreaterThan(0.9 * calls.length)
      const ends = await endsOf(program, runId)
      const wrong = calls.flatMap((call, index) => {
        const end = ends.get(index + 1) ?? 'unknown'
        return /^(stored|rejected|scope failed)$/.test(end) ? [] : [`${call}: ${end}`]
      })
      expect(wrong).toEqual([])
      // Most calls are about one record, and cost no more than that.
      const rejected = [...ends.values()].filter((end) => end === 'rejected')
      expect(rejected.length).toBeGreaterThan(calls.length / 4)
    } finally {
      await program.close()
      await database.drop()
    }
  },
)

function load(): Promise<typeof Place> {
  return server.ssrLoadModule('/test/fuzz/place.ts') as Promise<typeof Place>
}

/** What became of each organization's record, or what else is missing. */
async function endsOf(program: Place.Program, runId: string): Promise<Map<number, string>> {
  const read = async (text: string): Promise<Record<string, unknown>[]> =>
    (await program.database.query(text, text.includes('$1') ? [runId] : [])).rows
  const failures = await read(
    'select organization_id, document_id, annotation_id, error_status from sync.failures where run_id = $1',
  )
  const rejects = await read('select organization_id from sync.rejected_records where run_id = $1')
  const comments = await read(
    'select organization_id, annotation_id, comment_text as text from collab.comments where deleted_at is null',
  )
  const users = await read(
    'select organization_id, user_id, name as text from collab.users where listed',
  )
  return new Map(
    [...targets.keys()].map((organization) => {
      const own = (rows: Record<string, unknown>[]) =>
        rows.filter((row) => row['organization_id'] === `o${organization}`)
      const sound = (rows: Record<string, unknown>[]) =>
        own(rows).filter(({ text }) => !String(text).includes(mark(organization)))
      const failed = own(failures)
      const isFailed = (annotationId: string | null, documentId: string | null = null) =>
        failed.some(
          (row) =>
            row['annotation_id'] === annotationId &&
            (annotationId !== null || row['document_id'] === documentId),
        )
      const odd = `a${organization}-0-1`
      const allowed = [isFailed(odd), isFailed(null), isFailed(null, `d${organization}-0`)]
      if (failed.some((row) => row['error_status'] === 'worker_died'))
        return [organization, 'worker_died']
      if (failed.length > allowed.filter(Boolean).length)
        return [organization, `other scopes failed: ${JSON.stringify(failed)}`]
      for (let annotation = 0; annotation < LAYOUT.annotations; annotation++) {
        const id = `a${organization}-0-${annotation}`
        const there = sound(comments).filter((row) => row['annotation_id'] === id)
        if (there.length < 2 && !isFailed(id))
          return [organization, `neighbours in ${id} are missing`]
      }
      if (sound(users).length < 2 && !isFailed(null))
        return [organization, 'other users are missing']
      if (failed.length > 0) return [organization, 'scope failed']
      return [organization, own(rejects).length > 0 ? 'rejected' : 'stored']
    }),
  )
}

function bodyOf({ key, ids }: Asked): string {
  const [operation, organizationId = '', , annotationId = ''] = key.split('/')
  const text = mark(Number(organizationId.slice(1)))
  const odd = { further: { at: [text] } }
  const isOdd = isMarked && (operation === 'users' || annotationId.endsWith('-1'))
  const listing =
    operation === 'users'
      ? [user(1), isOdd ? { userId: 'u2', name: text, ...odd } : user(2), user(3)]
      : [comment(1), isOdd ? { ...comment(2), commentText: text, ...odd } : comment(2), comment(3)]
  // Another comment changes too.
  if (isOdd && operation === 'comments') Object.assign(listing[2] as object, { further: 1 })
  const data = ids === null ? listing : ids.map(() => null)
  return JSON.stringify({ result: { status: 'success', message: 'ok', data } })
}

function user(id: number) {
  return { userId: `u${id}`, name: `User ${id}` }
}

function comment(id: number) {
  const lastUpdated = '2026-01-02T03:04:05.678Z'
  return {
    commentId: id,
    commentText: `text ${id}`,
    from: { userId: `u${id}`, name: 'N' },
    lastUpdated,
  }
}

/** Whose records a value holds something of, as far as one can see from outside. */
function marksIn(value: unknown): Set<number> {
  const marks = new Set<number>()
  const visited = new Set<unknown>()
  const look = (each: unknown, depth: number): void => {
    if (typeof each === 'string') {
      for (const [, organization] of each.matchAll(MARKS)) marks.add(Number(organization))
    } else if (typeof each === 'object' && each !== null && depth < 8 && !visited.has(each)) {
      visited.add(each)
      if (ArrayBuffer.isView(each)) {
        // A larger one is room for rows, with what was in that memory before.
        if (each.byteLength < 32_000)
          look(Buffer.from(each.buffer, each.byteOffset, each.byteLength).toString('latin1'), depth)
      } else for (const inner of innerOf(each)) look(inner, depth + 1)
    }
  }
  look(value, 0)
  return marks
}

function innerOf(value: object): unknown[] {
  if (value instanceof Map) return [...value].flat()
  if (value instanceof Set || Array.isArray(value)) return [...value]
  const isRecord =
    Object.getPrototypeOf(value) === Object.prototype || value.constructor?.name === 'Comment'
  return isRecord ? Object.values(value) : []
}

/** Puts a question before each call of the program: its arguments, and the object whose method it is, are looked at first. */
function instrument(): Plugin {
  return {
    name: 'instrument',
    transform(code, id) {
      const path = id.slice(ROOT.length + 1).split('?')[0] as string
      if (!/^(src|jobs)\//.test(path)) return null
      const edits = new MagicString(code)
      visit(parseAst(code), (node) => {
        if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return
        if (node.callee?.type === 'Super' || node.callee?.type === 'Import') return
        const name = `${path}:${code.slice(0, node.start).split('\n').length} ${code.slice(node.callee?.start, node.callee?.end).slice(0, 60)}`
        // Of the objects whose methods are called, texts and records; a list of records is no record's.
        const own = node.callee?.object
        const named = own?.type === 'Identifier' ? code.slice(own.start, own.end) : ''
        const subject = named === '' ? '' : `, typeof ${named} === 'string' ? ${named} : undefined`
        if (code[node.end - 1] !== ')') return
        const open = code.indexOf('(', node.callee?.end)
        const before = `...__beforeCall(${JSON.stringify(name)}, [`
        const after = `]${subject})`
        if (node.arguments.length === 0) edits.appendLeft(node.end - 1, before + after)
        else edits.appendRight(open + 1, before).appendLeft(node.end - 1, after)
      })
      return { code: edits.toString(), map: null }
    },
  }
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly callee?: Node & { readonly object?: Node }
  readonly arguments: readonly Node[]
}

function visit(node: unknown, each: (node: Node) => void): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) return node.forEach((one) => visit(one, each))
  if (typeof (node as Node).type === 'string') each(node as Node)
  for (const value of Object.values(node)) visit(value, each)
}
