import { closestMatch } from 'leven'
import { writtenNames } from './environment.ts'
import type { Environment } from './environment.ts'
import { SETTING_LIST } from './table.ts'

const NAMES = SETTING_LIST.flatMap(({ setting: { name, secret } }) =>
  secret ? [name, `${name}_FILE`] : [name],
)
const PREFIXES = new Set(NAMES.flatMap((name) => name.match(/^[A-Z]+_/) ?? []))
/** Maximum number of different letters. After the prefix, short names may differ in one: DATABASE_SSL is another word. */
const DISTANCE_MAX = 2
const SHORT = 3

/**
 * Finds names in the environment and in `.env` that are probably misspelt settings: they have the prefix of one and differ
 * in few letters. Names of other programs, such as HTTP_PROXY, differ in more letters.
 * @param directory that of `.env`; default: the working directory
 * @returns a sentence for each
 * @throws UsageError if `.env` cannot be read
 */
export function misspeltSettings(environment: Environment, directory = process.cwd()): string[] {
  return writtenNames(environment, directory).flatMap((name) => {
    const meant = nearest(name)
    return meant === undefined ? [] : [`${name} is not a setting; did you mean ${meant}?`]
  })
}

function nearest(name: string): string | undefined {
  const [prefix] = name.match(/^[A-Z]+_/) ?? []
  if (prefix === undefined || !PREFIXES.has(prefix) || NAMES.includes(name)) return undefined
  const maxDistance = name.length - prefix.length > SHORT ? DISTANCE_MAX : 1
  const candidates = NAMES.filter((each) => each.startsWith(prefix))
  return closestMatch(name, candidates, { maxDistance })
}
