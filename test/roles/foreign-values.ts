import type pg from 'pg'

/** One statement with a place for a value, and two values for it that mean the same to the role: neither is in its own rows. */
export interface Pair {
  readonly what: string
  /** Statements that run before the one that is looked at. */
  readonly setUp: (value: string) => readonly string[]
  readonly statement: (value: string) => string
  /** Occurs in another organization only. */
  readonly foreign: string
  /** Occurs nowhere. */
  readonly invented: string
}

/** A generator of random pairs over every view and function of `collab` and `reporting`. */
export interface Pairs {
  /** @returns null where the column that came up has no value that only others have */
  next(): Promise<Pair | null>
}

interface Column {
  readonly view: string
  readonly name: string
  readonly type: string
}

interface Values {
  readonly foreign: string
  readonly invented: string
}

/** What a value is compared with: a column of a view, or a text made of it. */
type Condition = (column: string, value: string) => string

const ORDERED: readonly Condition[] = [
  (c, v) => `${c} = ${v}`,
  (c, v) => `${c} <> ${v}`,
  (c, v) => `${c} < ${v}`,
  (c, v) => `${c} <= ${v}`,
  (c, v) => `${c} > ${v}`,
  (c, v) => `${c} >= ${v}`,
  (c, v) => `${v} = ${c}`,
  (c, v) => `${c} between ${v} and ${v}`,
  (c, v) => `${c} in (${v}, ${v})`,
  (c, v) => `${c} not in (${v}, ${v})`,
  (c, v) => `${c} = any(array[${v}])`,
  (c, v) => `${c} < all(array[${v}])`,
  (c, v) => `${c} is not distinct from ${v}`,
  (c, v) => `${c} is distinct from ${v}`,
  (c, v) => `(${c}, 1) <= (${v}, 1)`,
  (c, v) => `coalesce(${c}, ${v}) = ${v}`,
  (c, v) => `nullif(${c}, ${v}) is null`,
  (c, v) => `greatest(${c}, ${v}) = ${v}`,
  (c, v) => `case ${c} when ${v} then true else false end`,
  (c, v) => `${c} = (select ${v})`,
  (c, v) => `${c} in (select ${v})`,
  (c, v) => `${c} in (values (${v}), (${v}))`,
  (c, v) => `${c} not in (select ${v} where ${v} is not null)`,
  (c, v) => `${c}::text = ${v}::text`,
  (c, v) => `array[${c}] @> array[${v}]`,
  (c, v) => `${c} is null or ${c} = ${v}`,
]

/** A pattern of the value itself: in `auth0|2` the sign is an alternative, and a pattern of it matches one's own ids with a 2. */
const literally = (v: string) => `regexp_replace(${v}, '[^a-zA-Z0-9]', '\\\\\\&', 'g')`

const TEXT: readonly Condition[] = [
  ...ORDERED,
  (c, v) => `${c} like ${literally(v)}`,
  (c, v) => `${c} like ${literally(v)} || '%'`,
  (c, v) => `${c} like '%' || ${literally(v)}`,
  (c, v) => `${c} not like '%' || ${literally(v)} || '%'`,
  (c, v) => `${c} ilike ${literally(v)}`,
  (c, v) => `${c} ~ ('^' || ${literally(v)})`,
  (c, v) => `${c} ~* ${literally(v)}`,
  (c, v) => `${c} similar to ${literally(v)}`,
  (c, v) => `${c} ^@ ${v}`,
  (c, v) => `${c} ~<~ ${v}`,
  (c, v) => `${c} collate "C" >= ${v}`,
  (c, v) => `lower(${c}) = lower(${v})`,
  (c, v) => `md5(${c}) = md5(${v})`,
  (c, v) => `hashtext(${c}) = hashtext(${v})`,
  (c, v) => `position(${v} in ${c}) > 0`,
  (c, v) => `to_tsvector('simple', ${c}) @@ plainto_tsquery('simple', ${v})`,
  (c, v) => `reporting.comment_words(${c}) @@ reporting.search_query(${v})`,
  (c, v) => `${c}::bytea = ${v}::bytea`,
  (c, v) => `1 / (case when ${c} = ${v} then 0 else 1 end) = 1`,
]

const NUMBER: readonly Condition[] = [
  ...ORDERED,
  (c, v) => `${c} - ${v} = 0`,
  (c, v) => `1 / (${c} - ${v}) = 7`,
  (c, v) => `abs(${c} - ${v}) < 0.001`,
]

const TIME: readonly Condition[] = [
  ...ORDERED,
  (c, v) => `extract(epoch from ${c}) = extract(epoch from ${v})`,
  (c, v) => `${c} + interval '1 day' = ${v} + interval '1 day'`,
]

const ARRAY: readonly Condition[] = [
  (c, v) => `${c} @> array[${v}]`,
  (c, v) => `${c} && array[${v}]`,
  (c, v) => `${v} = any(${c})`,
  (c, v) => `${c} = array[${v}]`,
  (c, v) => `${c} < array[${v}]`,
  (c, v) => `array_position(${c}, ${v}) is not null`,
]

const OBJECT: readonly Condition[] = [
  (c, v) => `${c}::text like '%' || ${v} || '%'`,
  (c, v) => `exists (select from jsonb_each_text(${c}) e where e.value = ${v})`,
  (c, v) => `${c} @> jsonb_build_object('userId', ${v})`,
  (c, v) => `${c} ->> 'email' = ${v}`,
  (c, v) => `${c} ? ${v}`,
  (c, v) => `${c} = jsonb_build_object('name', ${v})`,
  (c, v) => `${c} @? format('$.* ? (@ == "%s")', ${v})::jsonpath`,
]

/** Columns whose values go by the clock have no value to ask for. */
const CONDITIONS = new Map<string, { conditions: readonly Condition[]; cast: string }>([
  ['text', { conditions: TEXT, cast: 'text' }],
  ['bigint', { conditions: NUMBER, cast: 'bigint' }],
  ['integer', { conditions: NUMBER, cast: 'integer' }],
  ['numeric', { conditions: NUMBER, cast: 'numeric' }],
  ['date', { conditions: TIME, cast: 'date' }],
  ['timestamp with time zone', { conditions: TIME, cast: 'timestamptz' }],
  ['text[]', { conditions: ARRAY, cast: 'text' }],
  ['jsonb', { conditions: OBJECT, cast: 'text' }],
])
const BY_THE_CLOCK = /^(hours_since_last_comment|days_since_last_comment|age)$/

type Shape = (view: string, column: string, condition: string) => string

const SHAPES: readonly Shape[] = [
  (view, _, p) => `select count(*) from ${view} t where ${p}`,
  (view, c, p) => `select * from ${view} t where ${p} order by ${c} limit 5`,
  (view, _, p) =>
    `select t.organization_id, count(*) from ${view} t where ${p} group by 1 having count(*) > 0`,
  (view, c, p) => `select distinct ${c} from ${view} t where ${p}`,
  (view, _, p) =>
    `select count(*) from collab.organizations o where exists (select from ${view} t where t.organization_id = o.organization_id and (${p}))`,
  (view, _, p) =>
    `select count(*) from collab.organizations o where not exists (select from ${view} t where t.organization_id = o.organization_id and (${p}))`,
  (view, _, p) =>
    `select count(*) from collab.organizations o left join lateral (select from ${view} t where ${p} limit 3) l on true`,
  (view, _, p) =>
    `select count(o.active) from ${view} t left join collab.organizations o on o.organization_id = t.organization_id and (${p})`,
  (view, _, p) => `select count(*) filter (where ${p}), bool_or(${p}) from ${view} t`,
  (view, _, p) => `select (select count(*) from ${view} t where ${p})`,
  (view, _, p) =>
    `with x as materialized (select * from ${view}) select count(*) from x t where ${p}`,
  (view, _, p) => `with x as (select * from ${view}) select count(*) from x t where ${p}`,
  (view, c, p) => `select rank() over (order by ${c}) from ${view} t where ${p}`,
  (view, c, p) =>
    `select ${c} from ${view} t where ${p} union select ${c} from ${view} t where ${p}`,
  (view, c, p) => `select ${c} from ${view} t except select ${c} from ${view} t where ${p}`,
  (view, _, p) => `select to_jsonb(t) from ${view} t where ${p}`,
  (view, _, p) => `delete from ${view} t where ${p}`,
]

const SWITCHES = ['seqscan', 'indexscan', 'indexonlyscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'nestloop', 'sort', 'hashagg', 'material', 'memoize'] // prettier-ignore

/**
 * @param owner a connection that sees everything
 * @param own the one organization of the role
 * @param random numbers from 0 to 1
 * @param fullReader a role that sees everything, whose prepared statements the role takes over
 */
export async function foreignPairs(
  owner: pg.Client,
  own: string,
  roles: { one: string; all: string },
  random: () => number,
): Promise<Pairs> {
  const columns = await columnsOf(owner)
  const others = await owner.query<{ id: string }>(
    'select organization_id as id from collab.organizations where organization_id <> $1',
    [own],
  )
  const known = new Map<Column, Values | null>()
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T

  async function valuesOf(column: Column): Promise<Values | null> {
    let values = random() < 0.5 ? known.get(column) : undefined
    if (values === undefined) {
      values = await findValues(owner, column, own, pick(others.rows).id, random)
      known.set(column, values)
    }
    return values
  }

  function settings(): string[] {
    const off = SWITCHES.filter(() => random() < 0.15)
    return [
      ...off.map((name) => `set local enable_${name} = off`),
      `set local plan_cache_mode = ${pick(['auto', 'force_generic_plan', 'force_custom_plan'])}`,
      `set local random_page_cost = ${pick([0.1, 1, 4])}`,
      `set local work_mem = '${pick(['64kB', '4MB'])}'`,
      `set local from_collapse_limit = ${pick([1, 8])}`,
      `set local join_collapse_limit = ${pick([1, 8])}`,
      'set local max_parallel_workers_per_gather = 0',
      'set local jit = off',
    ]
  }

  return {
    async next() {
      const asks = random()
      const column = asks < 0.9 ? pick(columns) : pick(columns.filter(({ name }) => name === 'comment_text')) // prettier-ignore
      const values = await valuesOf(column)
      if (values === null) return null
      const { conditions, cast } = CONDITIONS.get(column.type) as { conditions: readonly Condition[]; cast: string } // prettier-ignore
      const how = settings()
      const pair = { ...values, what: `${column.view}.${column.name}`, setUp: () => how }
      const literal = (value: string) => `'${value.replaceAll("'", "''")}'::${cast}`
      if (asks >= 0.9) {
        const call = pick([
          (v: string) => `reporting.search_comments(${v})`,
          (v: string) => `reporting.search_comments('"' || ${v} || '"')`,
          (v: string) => `reporting.search_comments('page', ${v})`,
          (v: string) => `reporting.search_comments('page') t where t.comment_text = ${v}`,
          (v: string) => `reporting.search(${v} || ' x')`,
          (v: string) => `reporting.search('"' || ${v} || ' x"', max_results => 5)`,
          (v: string) => `reporting.search('page', organization_id => ${v})`,
          (v: string) => `reporting.search('page', author_user_id => ${v}, exact => true)`,
          (v: string) => `reporting.comments_at(now()) t where t.comment_text = ${v}`,
          (v: string) => `reporting.comments_at('2026-01-01Z') t where t.author_name < ${v}`,
          (v: string) => `reporting.memberships_at(now()) t where t.email = ${v}`,
          (v: string) => `reporting.user_directory_at(now()) t where t.email = ${v}`,
          (v: string) => `reporting.user_directory_at('2026-01-01Z') t where t.name < ${v}`,
        ])
        // What one's own words hold of a value is no news of the other's.
        const ownHas = async (v: string) =>
          (
            await owner.query<{ n: number }>(
              `select count(*)::int as n from (select * from ${call(literal(v))}) f where f.organization_id = $1`,
              [own],
            )
          ).rows[0]?.n
        if ((await ownHas(pair.foreign)) !== (await ownHas(pair.invented))) return null
        return { ...pair, what: 'functions', statement: (v) => `select count(*) from ${call(literal(v))}` } // prettier-ignore
      }
      const condition = pick(conditions)
      const shape = pick(SHAPES)
      const c = `t.${column.name}`
      const statement = (value: string) => shape(column.view, c, condition(c, value))
      const at = /timestamptz|date/.test(cast) && random() < 0.3
      if (at) {
        const call = pick(['reporting.comments_at', 'reporting.memberships_at'])
        // The function looks at other times than the column's: none of its own may lie between the two.
        const ownAt = async (v: string) => {
          const rows = `select t::text from ${call}(${literal(v)}) t where t.organization_id = $1`
          return JSON.stringify((await owner.query(`${rows} order by 1`, [own])).rows)
        }
        if ((await ownAt(pair.foreign)) !== (await ownAt(pair.invented))) return null
        return { ...pair, statement: (v) => `select count(*) from ${call}(${literal(v)})` }
      }
      const kind = random()
      // Prepared by one who sees everything, asked often enough for a plan of its own, and taken over by the role.
      if (kind < 0.25 && !shape('', '', '').startsWith('delete')) {
        const setUp = (v: string) => [
          ...how,
          `set local role ${roles.all}`,
          `prepare taken_over(${cast}) as ${statement('$1')}`,
          `explain execute taken_over(${literal(v)})`,
          `set local role ${roles.one}`,
        ]
        return { ...pair, setUp, statement: (v) => `execute taken_over(${literal(v)})` }
      }
      // A table of the role's own whose statistics hold the value, joined with ours.
      if (kind < 0.4 && column.type !== 'jsonb' && column.type !== 'text[]') {
        const setUp = (v: string) => [
          ...how,
          `create temp table mine on commit drop as select ${literal(v)} as v from generate_series(1, 50)`,
          'analyze mine',
        ]
        const join = pick(['join', 'left join', 'right join', 'full join'])
        return { ...pair, setUp, statement: () => `select count(*) from ${column.view} t ${join} mine on ${c} = mine.v` } // prettier-ignore
      }
      return { ...pair, statement: (v) => statement(literal(v)) }
    },
  }
}

async function columnsOf(owner: pg.Client): Promise<Column[]> {
  const { rows } = await owner.query<Column>(
    `select c.oid::regclass::text as view, quote_ident(a.attname) as name, format_type(a.atttypid, null) as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace in ('collab'::regnamespace, 'reporting'::regnamespace) and c.relkind = 'v' and a.attnum > 0
    order by 1, a.attnum`,
  )
  return rows.filter(({ name, type }) => CONDITIONS.has(type) && !BY_THE_CLOCK.test(name))
}

/** Where all ids are that a view may look through, also those under which it has no row. */
const ALL_IDS = new Map([
  ['document_id', 'collab.documents'],
  ['annotation_id', 'collab.annotations'],
  ['organization_user_group_id', 'collab.user_groups'],
  ['user_id', 'collab.users'],
])

/** A value of another organization that ours lacks, and one beside it that nobody has, with no value of ours between or around them. */
async function findValues(
  owner: pg.Client,
  { view, name, type }: Column,
  own: string,
  other: string,
  random: () => number,
): Promise<Values | null> {
  // Where no organization stands in a view, nothing in it is the role's.
  const organization = /observed_members|refresh_classes/.test(view)
    ? `'${other.replaceAll("'", "''")}'::text as organization_id`
    : 'organization_id'
  const source =
    type === 'text[]'
      ? `(select ${organization}, unnest(${name}) as v from ${view})`
      : type === 'jsonb'
        ? `(select ${organization}, e.value as v from ${view}, jsonb_each_text(${name}) e)`
        : `(select ${organization}, ${name} as v from ${view})`
  const { rows } = await owner.query<{ v: string }>(
    `select v::text from (select distinct v from ${source} s where organization_id = $1 and v is not null
      and v not in (select v from ${source} s where organization_id = $2 and v is not null)) d
    order by md5(v::text || $3) limit 3`,
    [other, own, String(random())],
  )
  const ids = ALL_IDS.get(name)
  const known =
    ids === undefined
      ? source
      : `(select * from ${source} s union all select organization_id, ${name} from ${ids})`
  for (const { v: foreign } of rows) {
    for (const invented of beside(foreign, type, random)) {
      const { rows: found } = await owner.query(
        `select exists (select from ${known} s where v = x.invented)
          or exists (select from ${known} s where organization_id = $1 and ((v < x.invented) is distinct from (v < x.foreign)
            or strpos(lower(v::text), lower(x.foreign::text)) > 0 or strpos(lower(v::text), lower(x.invented::text)) > 0)) as is_bad
        from (select ${[2, 3].map((n, at) => `$${n}::text::${plain(type)} as ${at === 0 ? 'foreign' : 'invented'}`).join(', ')}) x`,
        [own, foreign, invented],
      )
      if (!found[0].is_bad) return { foreign, invented }
    }
  }
  return null
}

function plain(type: string): string {
  return type === 'text[]' || type === 'jsonb' ? 'text' : type
}

/** Of the same length and the same kinds of characters: estimates of a pattern go by them, and whether it is one. */
function* beside(value: string, type: string, random: () => number): Generator<string> {
  for (let attempt = 1; attempt <= 6; attempt += 1) {
    if (type === 'bigint' || type === 'integer') yield String(BigInt(value) + BigInt(attempt))
    else if (type === 'numeric') yield (Number(value) + attempt / 100).toFixed(2)
    else if (type === 'date')
      yield new Date(Date.parse(value) + attempt * 7 * 86_400_000).toISOString().slice(0, 10) // prettier-ignore
    else if (type === 'timestamp with time zone')
      yield new Date(Date.parse(isoOf(value)) + attempt).toISOString() // prettier-ignore
    else {
      const places = [...value.matchAll(/(?<!\\)[a-z0-9]/g)].map(({ index }) => index).slice(-4)
      const place = places[Math.floor(random() * places.length)]
      if (place === undefined) return
      const old = value[place] as string
      const from = /\d/.test(old) ? '0123456789' : 'abcdefghijklmnopqrstuvwxyz'
      const other = [...from].filter((character) => character !== old)
      yield value.slice(0, place) + other[Math.floor(random() * other.length)] + value.slice(place + 1) // prettier-ignore
    }
  }
}

/** PostgreSQL's own output of a time, as JavaScript reads it. */
function isoOf(value: string): string {
  return value.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')
}
