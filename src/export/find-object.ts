import type { ExportFilter, ExportObject } from '../database/export.ts'
import { UsageError } from '../errors.ts'

/**
 * What a person means by a name, with its schema or without.
 * @throws UsageError that lists what there is, or both where a name is in both schemas
 */
export function findObject(objects: readonly ExportObject[], name: string): ExportObject {
  const named = objects.filter((object) => [object.name, fullName(object)].includes(name))
  const [only] = named
  if (only !== undefined && named.length === 1) return only
  if (named.length > 1) {
    throw new UsageError(
      `${JSON.stringify(name)} is in two schemas: say ${named.map(fullName).join(' or ')}.`,
    )
  }
  throw new UsageError(
    `There is no table or view ${JSON.stringify(name)} to export. There are: ${objects.map(fullName).join(', ')}.`,
  )
}

/** @throws UsageError where the filter needs a column that the object does not have */
export function checkFilter(object: ExportObject, filter: ExportFilter): void {
  const has = (column: string) => object.columns.some(({ name }) => name === column)
  if (filter.organizationId !== null && !has('organization_id')) {
    throw new UsageError(
      `--organization narrows by organization_id, which ${fullName(object)} does not have.`,
    )
  }
  if (filter.since !== null && !has('changed_at')) {
    throw new UsageError(`--since follows changed_at, which ${fullName(object)} does not have.`)
  }
}

/** `schema.name`. */
export function fullName({ schema, name }: ExportObject): string {
  return `${schema}.${name}`
}
