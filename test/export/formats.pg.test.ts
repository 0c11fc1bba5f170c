import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parse as parseCsv } from 'csv-parse/sync'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { from } from 'pg-copy-streams'
import { describe, expect, test } from 'vitest'
import { readExportObjects, streamRows, withSnapshot } from '../../src/features/export/rows.ts'
import { exportObject } from '../../src/features/export/export-object.ts'
import type { ExportRequest } from '../../src/features/export/export-object.ts'
import { UsageError } from '../../src/base/errors.ts'
import { places } from '../../src/demo/catalog.ts'
import { addComment } from '../../src/demo/changes.ts'
import { openLoaded } from '../helpers/live.ts'
import { ownFolder } from '../helpers/own-folder.ts'

const asWritten = new TextDecoder('utf-8', { ignoreBOM: true })

/** Texts that a careless writer breaks, or a spreadsheet runs. */
const ODD_TEXTS = [
  '=HYPERLINK("http://evil.example","click")',
  '+1',
  '-1+1',
  '@SUM(A1)',
  '\tTab first',
  '\rReturn first',
  '\nLine first',
  ' =1+1',
  ' \t =1+1',
  '\r\n=1+1',
  '\u00A0=1+1',
  '\u3000+1',
  '\u200B=1+1',
  '\u200F\u2066=1+1',
  '\u2028=1+1',
  '\u3164-1',
  '\u00AD\u034F@SUM(A1)',
  '\uFEFF=1+1',
  '\u0085=1+1',
  '＝1+1',
  '　＋1',
  '－1',
  '＠SUM(A1)',
  '\u22121',
  '  indented, and no formula',
  'a "quote", a comma,\r\nand a second line',
  '',
  'ordinary - text = fine',
  '\uFEFFmark, 日本語, 😀, é',
  '\\N',
  'null',
]

const directory: string = ownFolder()
const live = await openLoaded('none')
const { rows } = live
const first: string = [...live.world.organizationIds()][0] ?? ''
const documentId = [...live.world.documentIds(first)][0] ?? ''
const annotationId = [...live.world.annotationIds(first, documentId)][0] ?? ''
const place = { organizationId: first, documentId, annotationId }
for (const text of ODD_TEXTS) addComment(live.world, place, { text })
expect((await live.run())['status']).toBe('succeeded')

async function exported(request: Partial<ExportRequest>, name = 'out') {
  const out = join(directory, name)
  const done = await exportObject(live.database.pool, {
    object: 'collab.comments',
    organizationId: null,
    since: null,
    format: 'csv',
    formulas: false,
    byteOrderMark: true,
    out,
    ...request,
  })
  return { ...done, out }
}

/** Runs `work` while there is such a view of reporting. */
async function withView(name: string, select: string, work: () => Promise<void>): Promise<void> {
  await live.database.pool.query(`create view reporting.${name} as ${select}`)
  try {
    await work()
  } finally {
    await live.database.pool.query(`drop view reporting.${name}`)
  }
}

function objectsOf(file: string): Record<string, unknown>[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line))
}

const BY_ID = 'order by organization_id, document_id, annotation_id, comment_id'
const IDS = ['organization_id', 'document_id', 'annotation_id', 'comment_id'] as const

function sorted<R extends Record<string, unknown>>(list: readonly R[]): R[] {
  const key = (row: R) => JSON.stringify(IDS.map((id) => String(row[id])))
  return [...list].sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** PostgreSQL's own reading of a time, to the microsecond. */
const AS_TEXT = `select organization_id, document_id, annotation_id, comment_id::text, comment_text, raw::text as raw,
  to_char(last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as last_updated,
  (extract(epoch from first_seen_at) * 1000000)::bigint::text as first_seen_micros from collab.comments`

/** What a spreadsheet may see: no sign of a formula behind what has no ink, in any width; no cell that begins anew. */
function isFormula(text: string): boolean {
  const inked = text
    .normalize('NFKC')
    .replaceAll(/[\p{White_Space}\p{C}\u034F\u115F\u1160\u3164\uFEFF]/gu, '')
  return /^[=+\-@\u2212]/.test(inked) || /^[\t\r\n]/.test(text)
}

describe('CSV', () => {
  test('another reader finds every row, text and null, and no text that a spreadsheet would run', async () => {
    const { out, rows: count } = await exported({})
    const text = readFileSync(out, 'utf8')
    expect(
      text.startsWith('\uFEFF"organization_id"') || text.startsWith('\uFEFForganization_id'),
    ).toBe(true)
    expect(text.endsWith('\r\n')).toBe(true)
    const read = parseCsv(text, { columns: true, bom: true }) as Record<string, string>[]
    const stored = sorted(await rows(AS_TEXT))
    expect(read.length).toBe(stored.length)
    expect(count).toBe(stored.length)
    const guarded = (value: unknown) =>
      typeof value === 'string' && isFormula(value) ? `'${value}` : (value ?? '')
    expect(sorted(read).map((row) => row['comment_text'])).toEqual(
      stored.map((row) => guarded(row['comment_text'])),
    )
    for (const row of read) {
      for (const value of Object.values(row)) expect(isFormula(value), value).toBe(false)
    }
    expect(
      read
        .map((row) => row['last_updated'] ?? '')
        .every((time) => time === '' || time.endsWith('Z')),
    ).toBe(true)
  })

  test('the switch leaves texts as they are, an empty text differs from a null, and PostgreSQL reads it back', async () => {
    const { out } = await exported({ formulas: true, byteOrderMark: false }, 'plain.csv')
    const text = readFileSync(out, 'utf8')
    expect(text.startsWith('organization_id,')).toBe(true)
    const client = await live.database.pool.connect()
    try {
      await client.query('create temp table back (like collab.comments)')
      await pipeline(
        Readable.from([text]),
        client.query(from('copy back from stdin with (format csv, header)')),
      )
      const { rows: differing } = await client.query(
        `(select * from back except select * from collab.comments) union all (select * from collab.comments except select * from back)`,
      )
      expect(differing).toEqual([])
      const { rows: empty } = await client.query(
        `select count(*)::int as n from back where comment_text = ''`,
      )
      expect(empty[0].n).toBeGreaterThan(0)
    } finally {
      client.release(true)
    }
  })

  test('a copy that follows the feed of changes gets every text as it is', async () => {
    const { out } = await exported({ after: null }, 'copy.csv')
    const read = parseCsv(readFileSync(out), { columns: true, bom: true }) as Record<
      string,
      string
    >[]
    expect(read.map((row) => row['comment_text'])).toEqual(expect.arrayContaining(ODD_TEXTS))
  })

  test('ids, numbers and JSON are never changed, whatever they look like', async () => {
    const select = `select -1 as whole, -0.5::numeric as part, '-1'::jsonb as json, '-1' as user_id, '=1' as id, '-1' as text,
      '-1' as valid`
    await withView('below_zero', select, async () => {
      const { out } = await exported({ object: 'below_zero', byteOrderMark: false }, 'zero.csv')
      expect(readFileSync(out, 'utf8')).toBe(
        "whole,part,json,user_id,id,text,valid\r\n-1,-0.5,-1,-1,=1,'-1,'-1\r\n",
      )
    })
  })
})

test('NDJSON has one object a row, numbers with every digit, and JSON as it is', async () => {
  const select = `select 9007199254740993 as big, 0.10::numeric as part, 'NaN'::numeric as odd,
      '{"n": 12345678901234567890.10}'::jsonb as json, array['a', null, '"'] as list, true as yes, null::text as nothing,
      timestamptz '2026-01-02 03:04:05.678901+02' as at, interval '1 day 2 hours' as span, date '2026-01-02' as day`
  await withView('exact', select, async () => {
    const { out } = await exported({ object: 'exact', format: 'ndjson' }, 'exact.ndjson')
    expect(readFileSync(out, 'utf8')).toBe(
      '{"big":9007199254740993,"part":0.10,"odd":"NaN","json":{"n": 12345678901234567890.10},"list":["a", null, "\\""],' +
        '"yes":true,"nothing":null,"at":"2026-01-02T01:04:05.678901Z","span":"P1DT2H","day":"2026-01-02"}\n',
    )
  })
  const { out } = await exported({ format: 'ndjson' }, 'comments.ndjson')
  const read = objectsOf(out)
  const stored = sorted(await rows(`select * from collab.comments ${BY_ID}`))
  expect(sorted(read).map((row) => row['raw'])).toEqual(stored.map((row) => row['raw']))
  expect(sorted(read).map((row) => row['comment_text'])).toEqual(
    stored.map((row) => row['comment_text']),
  )
})

describe('Parquet', () => {
  test('another reader finds the same count, types, texts and times', async () => {
    const { out } = await exported({ format: 'parquet' }, 'comments.parquet')
    const file = await asyncBufferFromFile(out)
    const { schema, num_rows: count } = await parquetMetadataAsync(file)
    const type = (name: string) => {
      const element = schema.find((each) => each.name === name)
      return [element?.type, element?.converted_type ?? element?.logical_type?.type]
    }
    expect(type('comment_id')).toEqual(['INT64', undefined])
    expect(type('comment_text')).toEqual(['BYTE_ARRAY', 'UTF8'])
    expect(type('last_updated')).toEqual(['INT64', 'TIMESTAMP_MICROS'])
    const time = schema.find(({ name }) => name === 'last_updated')
    expect(time?.logical_type).toEqual({ type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' })
    expect(type('raw')).toEqual(['BYTE_ARRAY', 'JSON'])
    const read = sorted(
      (await parquetReadObjects({
        file,
        parsers: {
          timestampFromMicroseconds: (micros: bigint) => micros,
          // Left to itself this reader takes a byte order mark at the begin of a text for none of it.
          stringFromBytes: (bytes: Uint8Array) => asWritten.decode(bytes),
        },
      } as never)) as Record<string, unknown>[],
    )
    const stored = sorted(await rows(AS_TEXT))
    expect(Number(count)).toBe(stored.length)
    expect(read.map((row) => row['comment_text'] ?? null)).toEqual(
      stored.map((row) => row['comment_text']),
    )
    expect(read.map((row) => String(row['first_seen_at']))).toEqual(
      stored.map((row) => row['first_seen_micros']),
    )
    expect(read.map((row) => row['raw'])).toEqual(
      stored.map((row) => JSON.parse(String(row['raw']))),
    )
  })

  test('an export without rows is a file that can be read', async () => {
    await withView('nothing', 'select 1 as n, now() as at where false', async () => {
      const request = { object: 'nothing', format: 'parquet' } as const
      const { out, rows: count } = await exported(request, 'none.parquet')
      expect(count).toBe(0)
      const file = await asyncBufferFromFile(out)
      expect((await parquetMetadataAsync(file)).num_rows).toBe(0n)
      expect(await parquetReadObjects({ file })).toEqual([])
    })
  })
})

describe('what is exported', () => {
  test('every table and view can be, in every format', async () => {
    const objects = await rows(
      `select format('%s.%s', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('collab', 'reporting') and c.relkind in ('v', 'r')`,
    )
    expect(objects.length).toBeGreaterThan(10)
    for (const { name } of objects) {
      const counted = await rows(`select count(*)::int as n from ${name}`)
      for (const format of ['csv', 'ndjson', 'parquet'] as const) {
        const done = await exported({ object: name as string, format }, `each.${format}`)
        expect(done.rows, `${name} as ${format}`).toBe(counted[0]?.['n'])
      }
    }
  })

  test('rows that changed since the previous export, of one organization', async () => {
    const { nextSince: since, takenAt } = await exported({})
    expect(since.getTime()).toBeLessThanOrEqual(takenAt.getTime())
    expect((await exported({ since: new Date() })).rows).toBe(0)
    const other = [...places(live.world)].find(({ organizationId }) => organizationId !== first)
    for (const at of [place, other!]) addComment(live.world, at, { text: 'changed since' })
    await live.run()
    const request = { since, organizationId: first, format: 'ndjson' } as const
    const texts = objectsOf((await exported(request)).out).map((row) => row['comment_text'])
    expect(texts).toEqual(['changed since'])
  })

  test("while an item is in a worker's hands, the next export has to look from its begin on", async () => {
    await live.database.pool.query(
      `with run as (insert into sync.runs (trigger, status, started_at) values ('cli', 'running', now()) returning run_id)
      insert into sync.run_items (run_id, kind, claimed_at) select run_id, 'sync-batch', '2026-01-01T00:00:00Z' from run`,
    )
    try {
      expect((await exported({}, 'claimed')).nextSince.toISOString()).toBe(
        '2026-01-01T00:00:00.000Z',
      )
    } finally {
      await live.database.pool.query(`delete from sync.runs where status = 'running'`)
    }
  })

  test('the rows of one moment: later rows are not in the snapshot', async () => {
    const objects = await readExportObjects(live.database.pool)
    const object = objects.find(
      ({ schema, name }) => `${schema}.${name}` === 'collab.organizations',
    )
    const read = async (write: () => Promise<unknown>) =>
      withSnapshot(live.database.pool, async (snapshot) => {
        await write()
        const all = { organizationId: null, since: null }
        return Readable.from(streamRows(snapshot, object!, all)).toArray()
      })
    const before = await read(() =>
      rows(`insert into collab_store.organizations (organization_id) values ('later')`),
    )
    expect((await read(async () => {})).length).toBe(before.length + 1)
  })
})

test('an export whose connection is lost ends with a sentence', async () => {
  const object = { schema: 'reporting', name: 'many', columns: [{ name: 'n', type: 'integer' }] }
  await withView('many', 'select n from generate_series(1, 1000000) n', async () => {
    const exporting = withSnapshot(live.database.pool, async (snapshot) => {
      let count = 0
      for await (const _ of streamRows(snapshot, object, { organizationId: null, since: null }))
        if ((count += 1) === 10)
          await rows(`select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and query like '%many%' and pid <> pg_backend_pid()`)
    })
    await expect(exporting).rejects.toThrow(/^PostgreSQL at .* Try again in a moment\.$/)
  })
})

test.each([
  [
    { object: 'collab.nothing' },
    /There is no table or view "collab.nothing" to export\. There are: .*collab\.comments/,
  ],
  [{ object: 'sync.runs' }, /There is no table or view "sync.runs"/],
  [{ object: 'collab_store.comments' }, /There is no table or view/],
  [{ object: 'comments' }, 'is in two schemas: use collab.comments or reporting.comments.'],
  [
    { object: 'documents', since: new Date() },
    '--since needs a column changed_at, which collab.documents does not have.',
  ],
  [{ organizationId: 'nowhere' }, 'There is no organization "nowhere" in the catalog.'],
])('an impossible request leaves no file: %j', async (request, message) => {
  const error = await exported(request, 'never').catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(UsageError)
  expect((error as Error).message).toMatch(message)
  expect(existsSync(join(directory, 'never'))).toBe(false)
})
