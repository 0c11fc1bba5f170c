import type pg from 'pg'
import type { Described, DescribedColumn } from './describe.ts'

/** The types of TypeScript for those of PostgreSQL, as the pool's parsers read them (src/core/database/pool.ts). */
export interface Types {
  ofParameter(type: number, mayHoldNulls: boolean): string
  /** @param marks.like the column, as `schema.table.column`, whose values it has */
  ofColumn(
    column: DescribedColumn,
    marks: { like: string | undefined; elementsNeverNull: boolean },
  ): string
  isNotNull(table: number, attribute: number): boolean
}

const BY_NAME: Readonly<Record<string, string>> = {
  bool: 'boolean',
  bytea: 'Buffer',
  date: 'Date',
  float4: 'number',
  float8: 'number',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  json: 'unknown',
  jsonb: 'unknown',
  oid: 'number',
  timestamp: 'Date',
  timestamptz: 'Date',
  void: 'unknown',
}

/** What comes as text: the other types that statements use. */
const AS_TEXT = new Set(
  'bpchar char inet name numeric regclass regrole text uuid varbit varchar xid8'.split(' '),
)

/** Arrays whose elements pg reads otherwise than the same type alone. */
const ELEMENTS: Readonly<Record<string, string>> = { _int8: 'string', _numeric: 'number' }

/** Arrays of parameters: times of records stay the ISO 8601 texts that they came as, since pg rounds a Date's zone to minutes. */
const ELEMENTS_GIVEN: Readonly<Record<string, string>> = { _timestamptz: 'string' }

interface Attribute {
  readonly table: number
  readonly attribute: number
  readonly name: string
  readonly is_not_null: boolean
  readonly check: string | null
}

/** Reads the types and columns that the described statements name. */
export async function readTypes(
  client: pg.ClientBase,
  described: readonly Described[],
): Promise<Types> {
  const { rows: names } = await client.query<{ oid: number; typname: string }>(
    'select oid, typname from pg_type where oid = any($1::oid[])',
    [
      described.flatMap((each) => [
        ...each.parameterTypes,
        ...each.columns.map(({ type }) => type),
      ]),
    ],
  )
  const nameOf = new Map(names.map(({ oid, typname }) => [oid, typname]))
  const { rows } = await client.query<Attribute>(ATTRIBUTES)
  const attributes = new Map(rows.map((row) => [`${row.table} ${row.attribute}`, row]))
  const byName = new Map(rows.map((row) => [row.name, row]))

  /** The values that a check allows a column to have, as a union. */
  const unionOf = (attribute: Attribute | undefined): string | undefined => {
    const list = /= ANY \(\(?ARRAY\[(.*?)\]/.exec(attribute?.check ?? '')?.[1]
    return list?.match(/'(?:[^']|'')*'/g)?.join(' | ')
  }
  const typeOf = (type: number, elementsMayBeNull: boolean, isParameter: boolean): string => {
    const name = nameOf.get(type) ?? `type ${type}`
    const single = (each: string): string => {
      if (isParameter && /^jsonb?$/.test(each)) return 'string'
      const known = BY_NAME[each] ?? (AS_TEXT.has(each) ? 'string' : undefined)
      if (known === undefined)
        throw new Error(`has the type ${each}, unknown to test/statements/types.ts.`)
      return known
    }
    if (!name.startsWith('_')) return single(name)
    const element = (isParameter ? ELEMENTS_GIVEN : ELEMENTS)[name] ?? single(name.slice(1))
    return `readonly ${elementsMayBeNull ? `(${element} | null)` : element}[]`
  }

  return {
    ofParameter: (type, mayHoldNulls) => typeOf(type, mayHoldNulls, true),
    ofColumn(column, { like, elementsNeverNull }) {
      const attribute =
        like === undefined
          ? attributes.get(`${column.table} ${column.attribute}`)
          : byName.get(like)
      if (like !== undefined && attribute === undefined)
        throw new Error(`there is no column ${like}.`)
      return unionOf(attribute) ?? typeOf(column.type, !elementsNeverNull, false)
    },
    isNotNull: (table, attribute) => attributes.get(`${table} ${attribute}`)?.is_not_null ?? false,
  }
}

const ATTRIBUTES = `
  select a.attrelid::int8 as table, a.attnum as attribute, n.nspname || '.' || c.relname || '.' || a.attname as name,
    a.attnotnull as is_not_null,
    (select pg_get_constraintdef(k.oid) from pg_constraint k
     where k.conrelid = a.attrelid and k.contype = 'c' and k.conkey = array[a.attnum]
       and pg_get_constraintdef(k.oid) like '%= ANY%' limit 1) as check
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
  where a.attnum > 0 and not a.attisdropped and n.nspname !~ '^pg_toast'`
