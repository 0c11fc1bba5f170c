import type { OpenAPIV3_1 } from 'openapi-types'
import { Card, Facts } from '../pages/elements.tsx'
import { renderPage } from '../pages/layout.tsx'
import { Table } from '../pages/tables.tsx'

type Schema = OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject

/**
 * The OpenAPI document as a page to read.
 * @returns a whole HTML document
 */
export function renderOpenApi(document: OpenAPIV3_1.Document): string {
  const operations = operationsOf(document)
  const tags = [...new Set(operations.map(({ tag }) => tag))]
  const schemas = Object.entries(document.components?.schemas ?? {})
  return renderPage(
    { title: 'API', part: null },
    <>
      {document.info.description?.split('\n\n').map((paragraph) => (
        <p key={paragraph}>{paragraph.replaceAll('`', '')}</p>
      ))}
      <p>
        For programs: <a href="/openapi.json">openapi.json</a>. Show HTTP_TOKEN or a token of your
        own with every request, as <code>Authorization: Bearer</code>.
      </p>
      {tags.map((tag) => (
        <Card key={tag} title={tag}>
          {operations
            .filter((each) => each.tag === tag)
            .map((each) => (
              <OperationPart key={each.id} operation={each} />
            ))}
        </Card>
      ))}
      <Card title="Schemas">
        {schemas.map(([name, schema]) => (
          <SchemaPart key={name} name={name} schema={schema} />
        ))}
      </Card>
    </>,
  )
}

interface Operation {
  readonly id: string
  readonly tag: string
  readonly method: string
  readonly path: string
  readonly says: OpenAPIV3_1.OperationObject
}

function operationsOf(document: OpenAPIV3_1.Document): Operation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods ?? {}).map(([method, found]) => {
      const says = found as OpenAPIV3_1.OperationObject
      const id = says.operationId ?? `${method} ${path}`
      return { id, tag: says.tags?.[0] ?? '', method: method.toUpperCase(), path, says }
    }),
  )
}

function OperationPart({ operation }: { operation: Operation }) {
  const { id, method, path, says } = operation
  const body = says.requestBody as OpenAPIV3_1.RequestBodyObject | undefined
  const parameters = (says.parameters ?? []) as OpenAPIV3_1.ParameterObject[]
  const answers = Object.entries(says.responses ?? {}) as [string, OpenAPIV3_1.ResponseObject][]
  return (
    <>
      <h3 id={id}>
        <code>
          {method} {path}
        </code>
      </h3>
      <p>
        {says.summary}. {says.description?.replaceAll('`', '')}
      </p>
      {body !== undefined && <p>Body: {describeContent(body.content)}.</p>}
      {parameters.length > 0 && (
        <Table
          label={`Parameters of ${id}`}
          caption="Parameters"
          rows={parameters}
          columns={[
            ['Name', ({ name }) => name],
            ['In', (parameter) => parameter.in],
            ['Is', ({ schema }) => describe(schema as Schema)],
            ['Means', ({ description }) => description],
          ]}
        />
      )}
      <details>
        <summary>Answers of {id}</summary>
        <Facts
          of={answers.map(([status, answer]) => [
            status,
            `${(answer.description ?? '').replaceAll('`', '')} ${describeContent(answer.content)}`,
          ])}
        />
      </details>
    </>
  )
}

function SchemaPart({ name, schema }: { name: string; schema: Schema }) {
  const { description, properties, required } = schema as OpenAPIV3_1.SchemaObject
  return (
    <>
      <h3 id={name}>{name}</h3>
      {description !== undefined && <p>{description.replaceAll('`', '')}</p>}
      <Table
        label={`Members of ${name}`}
        caption="Members"
        rows={Object.entries(properties ?? {})}
        columns={[
          ['Name', ([member]) => member],
          [
            'Is',
            ([member, part]) =>
              describe(part) + (required?.includes(member) ? '' : ', may be left out'),
          ],
          [
            'Means',
            ([, part]) => (part as { description?: string }).description?.replaceAll('`', ''),
          ],
        ]}
      />
    </>
  )
}

function describeContent(content: Record<string, OpenAPIV3_1.MediaTypeObject> | undefined): string {
  return Object.entries(content ?? {})
    .map(([type, { schema }]) => `${schema === undefined ? 'text' : describe(schema)} (${type})`)
    .join(', ')
}

/** A schema in a few words. */
function describe(schema: Schema | undefined): string {
  if (schema === undefined) return 'anything'
  if ('$ref' in schema) return schema.$ref.replace(/^.*\//, '')
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.anyOf) return schema.anyOf.map(describe).join(' or ')
  if (schema.type === 'array') return `list of ${describe(schema.items)}`
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'anything')
  return schema.format === undefined ? type : `${type} (${schema.format})`
}
