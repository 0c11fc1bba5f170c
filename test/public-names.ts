import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { OpenAPIV3_1 } from 'openapi-types'
import type { Registry } from 'prom-client'
import { parseAst } from 'rolldown/parseAst'
import * as z from 'zod'
import { jobs } from '../jobs/index.ts'
import { createProgram } from '../src/cli/program.ts'
import { EXIT } from '../src/cli/exit.ts'
import type { CollabSync } from '../src/client/collab-sync.ts'
import type { Database } from '../src/core/database/pool.ts'
import { QUEUE_NAMES } from '../src/core/queue/backend.ts'
import { readDictionary } from '../src/features/export/dictionary/dictionary.ts'
import { fullName } from '../src/features/export/export-object.ts'
import { copyOf, readExportObjects } from '../src/features/export/rows.ts'
import type { ExportObject } from '../src/features/export/rows.ts'
import { bodyFor } from '../src/features/notify/message.ts'
import type { Notification } from '../src/features/notify/notification.ts'
import { CatalogJobSchema } from '../src/schemas/catalog-line.ts'
import { SHOWN_COUNTS } from '../src/schemas/counts.ts'
import { HintJobSchema } from '../src/schemas/hint.ts'
import { TYPES } from '../src/schemas/notification-type.ts'
import { StartRunJobSchema } from '../src/schemas/run.ts'
import { SETTING_LIST } from '../src/settings/table.ts'
import { operationsOf } from './http/served.ts'

type Schema = OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject

/** Columns with their types, functions of `reporting`, and the objects of exports and of the feed of changes. */
export async function databaseNames(database: Database): Promise<string[]> {
  const { relations, functions } = await readDictionary(database)
  const exported = await readExportObjects(database)
  // Those of `sync` are called by its views.
  const called = functions.filter(({ schema }) => schema === 'reporting')
  return [
    ...relations.flatMap((relation) => columnNames(`column ${fullName(relation)}`, relation)),
    ...called.flatMap(({ schema, name, arguments: takes, result }) => {
      const path = `function ${schema}.${name}`
      const returns = (result ?? '').replace(/^TABLE\((.*)\)$/, '$1')
      return [
        path,
        ...listed(takes).map((each) => `${path} takes ${each}`),
        ...listed(returns).map((each) => `${path} returns ${each}`),
      ]
    }),
    ...exported.flatMap((object) => [
      `export ${fullName(object)}`,
      ...columnNames(`copy ${fullName(object)}`, copyOf(object)),
    ]),
  ]
}

function listed(text: string): string[] {
  return text.split(', ').filter(Boolean)
}

function columnNames(path: string, relation: Pick<ExportObject, 'columns'> | null): string[] {
  return (relation?.columns ?? []).map(({ name, type }) => `${path}.${name}: ${type}`)
}

/** Commands, their options and the values that an option names, and exit codes. */
export function commandNames(): string[] {
  const codes = Object.entries(EXIT).map(([name, code]) => `exit code ${code}: ${name}`)
  return [
    ...codes,
    ...namesOf(
      createProgram(() => {}),
      'command',
    ),
  ]
}

function namesOf(command: Command, path: string): string[] {
  const options = command.options.flatMap(({ short, long, required, optional, argChoices }) => {
    const value = required ? ' <value>' : optional ? ' [value]' : ''
    const name = `${path} ${long}${value}`
    return [
      name,
      ...(short === undefined ? [] : [`${path} ${short}${value}`]),
      ...(argChoices ?? []).map((choice) => `${name} = ${choice}`),
    ]
  })
  return [
    path,
    ...command.registeredArguments.map(
      ({ required }, index) => `${path} argument ${index + 1}${required ? '' : ', optional'}`,
    ),
    ...options,
    ...command.commands.flatMap((each) => namesOf(each, `${path} ${each.name()}`)),
  ]
}

export function settingNames(): string[] {
  return SETTING_LIST.map(({ setting }) => `setting ${setting.name}`)
}

/** Metrics of collab-sync with their labels. */
export function metricNames(registries: readonly Registry[]): string[] {
  const metrics = registries.flatMap(
    (registry) =>
      registry.getMetricsAsArray() as unknown as { name: string; labelNames: string[] }[],
  )
  return metrics
    .filter(({ name }) => name.startsWith('collab_sync_'))
    .flatMap(({ name, labelNames }) => [
      `metric ${name}`,
      ...labelNames.map((label) => `metric ${name}{${label}}`),
    ])
}

/** The jobs that programs enqueue, with the members of their data, and the queues. */
export function jobNames(): string[] {
  const data = [
    ['start-run', StartRunJobSchema],
    ['catalog', CatalogJobSchema],
    ['hint', HintJobSchema],
  ] satisfies [keyof typeof jobs, z.ZodType][]
  const worked = data.filter(([name]) => name in jobs)
  return [
    ...Object.values(QUEUE_NAMES).map((name) => `queue ${name}`),
    ...worked.flatMap(([name, schema]) => {
      const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
      return [`job ${name}`, ...members(`job ${name}`, json as Schema)]
    }),
  ]
}

/** Exports of the package, and the methods of the client. */
export function packageNames(client: CollabSync): string[] {
  return [
    ...exportsOf('collab-sync', '../src/index.ts'),
    ...exportsOf('collab-sync/views', '../src/client/views.ts'),
    ...Object.keys(client).map((method) => `typescript CollabSync.${method}`),
  ]
}

function exportsOf(entry: string, path: string): string[] {
  const text = readFileSync(join(import.meta.dirname, path), 'utf8')
  return parseAst(text, { lang: 'ts' }).body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return []
    const { declaration, specifiers, exportKind } = statement
    if (declaration?.type === 'TSInterfaceDeclaration')
      return [`typescript ${entry} type ${declaration.id.name}`]
    return specifiers.map((each) => {
      const kind = exportKind === 'type' ? 'type' : each.exportKind
      const name = each.exported.type === 'Identifier' ? each.exported.name : ''
      return `typescript ${entry} ${kind} ${name}`
    })
  })
}

const RUN = {
  at: '2026-11-29T02:00:00Z',
  runId: '0193a6c5-0000-7000-8000-000000000001',
  trigger: 'schedule',
  request: null,
  requestedBy: null,
  cancelledBy: null,
}
const COUNTS = Object.fromEntries(Object.keys(SHOWN_COUNTS).map((name) => [name, 0])) as Record<
  keyof typeof SHOWN_COUNTS,
  number
>
/** One of each structure. */
const NOTIFICATIONS: readonly Notification[] = [
  {
    ...RUN,
    kind: 'run.failed',
    scopesPlanned: 0,
    scopesSucceeded: 0,
    scopesFailed: 0,
    scopesHeld: 0,
    scopesSkipped: 0,
  },
  {
    ...RUN,
    ...COUNTS,
    kind: 'run.finished',
    status: 'succeeded',
    scope: {},
    completeUpTo: null,
    durationMs: 0,
  },
  {
    kind: 'scopes.failing',
    at: RUN.at,
    count: 1,
    organizations: 1,
    first: [{ organizationId: 'acme', count: 1 }],
    since: null,
    latest: null,
    sentence: '',
    fix: '',
    path: '/',
    words: null,
  },
  { kind: 'scopes.recovered', at: RUN.at, exceptions: ['failing'] },
  {
    kind: 'members.changed',
    at: RUN.at,
    members: 1,
    first: [{ object: 'user', member: 'name', change: 'new', types: [] }],
  },
]

/** Types of notifications, and the members of the JSON of each structure. */
export function notificationNames(): string[] {
  return [
    ...TYPES.map((type) => `notification ${type}`),
    ...NOTIFICATIONS.flatMap((notification) => {
      const body = bodyFor('json', 'id', notification, 'https://sync.example.com')
      return pathsOf(`notification ${notification.kind}`, JSON.parse(body))
    }),
  ]
}

function pathsOf(path: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => pathsOf(`${path}[]`, each))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [
    `${path}.${name}`,
    ...pathsOf(`${path}.${name}`, member),
  ])
}

/** Routes of `/v1` with their parameters, and the members and values of its documents. */
export function httpNames(document: OpenAPIV3_1.Document): string[] {
  const routes = operationsOf(document).flatMap(({ method, path, says }) => {
    const route = `route ${method} ${path}`
    const parameters = (says.parameters ?? []) as OpenAPIV3_1.ParameterObject[]
    const { content: body } = (says.requestBody ?? { content: {} }) as OpenAPIV3_1.RequestBodyObject
    const answers = Object.entries(says.responses ?? {}).filter(([status]) =>
      status.startsWith('2'),
    )
    return [
      route,
      ...parameters.flatMap(({ in: place, name, required, schema }) =>
        named(`${route} ${place} ${name}`, schema as Schema, required === true),
      ),
      ...Object.values(body).flatMap(({ schema }) => named(`${route} body`, schema as Schema)),
      ...answers.flatMap(([status, answer]) => {
        const { content = {} } = answer as OpenAPIV3_1.ResponseObject
        return Object.entries(content).flatMap(([type, { schema }]) =>
          named(`${route} ${status} ${type}`, schema as Schema),
        )
      }),
    ]
  })
  const documents = Object.entries(document.components?.schemas ?? {})
  return [
    ...routes,
    ...documents.flatMap(([name, schema]) => members(`document ${name}`, schema as Schema)),
  ]
}

/** A member with its type, and the members and values beneath it. */
function named(path: string, schema: Schema, isRequired = true): string[] {
  return [`${path}${isRequired ? '' : '?'}: ${typeOf(schema)}`, ...members(path, schema)]
}

function members(path: string, schema: Schema): string[] {
  if ('$ref' in schema) return []
  const { properties = {}, required = [], enum: values = [] } = schema
  const { anyOf = [], oneOf = [], allOf = [], items } = { items: undefined, ...schema }
  return [
    ...values.filter((value) => value !== null).map((value) => `${path} = ${value}`),
    ...('const' in schema ? [`${path} = ${schema.const}`] : []),
    ...Object.entries(properties).flatMap(([name, member]) =>
      named(`${path}.${name}`, member, required.includes(name)),
    ),
    ...[...anyOf, ...oneOf, ...allOf].flatMap((each) => members(path, each)),
    ...(items === undefined ? [] : members(`${path}[]`, items as Schema)),
  ]
}

/** A name of JSON Schema, or of a document. */
function typeOf(schema: Schema): string {
  if ('$ref' in schema) return schema.$ref.split('/').at(-1) ?? ''
  const { type, format, anyOf = [], oneOf = [], items } = { items: undefined, ...schema }
  const of = [...anyOf, ...oneOf].map(typeOf)
  if (of.length > 0) return [...new Set(of)].join(' | ')
  if (items !== undefined) return `${typeOf(items as Schema)}[]`
  const known = [type ?? 'any'].flat().join(' | ')
  return format === undefined ? known : `${known} (${format})`
}
