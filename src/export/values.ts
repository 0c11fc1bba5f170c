/** How PostgreSQL's own texts of values become those of others. */

const NUMBERS = new Set(['smallint', 'integer', 'bigint', 'numeric', 'real', 'double precision'])

export function isNumber(type: string): boolean {
  return NUMBERS.has(type)
}

/** Lists are read as JSON too. */
export function isJson(type: string): boolean {
  return type === 'jsonb' || type === 'json' || type.endsWith('[]')
}

export function isTime(type: string): boolean {
  return type === 'timestamp with time zone'
}

/** ISO 8601 for times, `true` and `false`; everything else as PostgreSQL writes it. */
export function fromPostgres(type: string, value: string): string {
  if (type === 'boolean') return value === 't' ? 'true' : 'false'
  // In the time zone UTC it is written `2026-11-21 09:30:00.123+00`.
  return isTime(type) ? value.replace(' ', 'T').replace(/\+00$/, 'Z') : value
}
