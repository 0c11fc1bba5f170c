import { closestMatch } from 'leven'
import { writtenNames } from './environment.ts'
import type { Environment } from './environment.ts'
import { SETTING_LIST } from './table.ts'

const NAMES = SETTING_LIST.flatMap(({ setting: { name, secret } }) =>
  secret ? [name, `${name}_FILE`] : [name],
)
const PREFIXES = new Set(NAMES.flatMap((name) => name.match(/^[A-Z]+_/) ?? []))
/** Letters that a name may differ by. Two of three letters behind the prefix would make another word: DATABASE_SSL. */
const DISTANCE_MAX = 2
const SHORT = 3

/**
 * Names in the environment and in `.env` that are almost those of settings and begin with the prefix of one, so that their
 * values have no effect. Names that other programs read, such as HTTP_PROXY, differ by more letters.
 * @param directory where `.env` is; the working directory when left out
 * @returns a sentence for each
 * @throws UsageError where `.env` cannot be read
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
