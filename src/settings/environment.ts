import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../base/errors.ts'
import { decodeText } from '../base/secret-file.ts'
import { parseEnvFile } from './env-file.ts'
import { SETTING_LIST } from './table.ts'
import type { Setting, SettingFault } from './setting.ts'

/** The environment, such as `process.env`. */
export type Environment = Record<string, string | undefined>

/** The texts of the settings, and where they come from. */
export type Texts = ReturnType<typeof readTexts>

/**
 * The text of each setting that is not empty: from the environment, else from the file `.env`, and for a secret NAME also
 * from the file named in NAME_FILE.
 * @param directory that of `.env`
 * @param isRead whether the command needs a setting; files of other secrets are not opened
 * @throws UsageError if `.env` cannot be read
 */
export function readTexts(
  environment: Environment,
  directory: string,
  isRead: (setting: Setting) => boolean,
) {
  const faults: SettingFault[] = []
  const { file, written } = readWritten(environment, directory, faults)
  const secrets = readSecretFiles(written, isRead, faults)
  return {
    /** Without empty ones. */
    given: { ...written, ...secrets },
    originOf(name: string) {
      if (name in secrets) return 'file'
      if (!(name in written)) return 'default'
      return name in environment ? 'environment' : '.env'
    },
    /** Names whose value in `.env` does not apply, because the environment has an empty variable. */
    hidden: new Set(Object.keys(file).filter((name) => name in environment && !(name in written))),
    /** Files, and lines of `.env`, that cannot be read. */
    faults,
  }
}

/**
 * The names of all variables in the environment and in the file `.env` that are not empty.
 * @throws UsageError if `.env` cannot be read
 */
export function writtenNames(environment: Environment, directory: string): string[] {
  return Object.keys(readWritten(environment, directory, []).written)
}

/** The variables of `.env`, and those of both with the environment's in place of its, without empty ones. */
function readWritten(
  environment: Environment,
  directory: string,
  faults: SettingFault[],
): Record<'file' | 'written', Environment> {
  const file = withoutEmpty(readEnvFile(join(directory, '.env'), faults))
  const unquoted = Object.entries(environment).map(([name, value]) => [
    name,
    // `docker run --env-file` keeps quotes around a value.
    value?.replace(/^\s*(["'])(.*)\1\s*$/s, '$2'),
  ])
  return { file, written: withoutEmpty({ ...file, ...Object.fromEntries(unquoted) }) }
}

function withoutEmpty(variables: Environment): Environment {
  return Object.fromEntries(
    Object.entries(variables)
      .map(([name, value]) => [name, value?.trim()])
      .filter(([, value]) => value !== undefined && value !== ''),
  )
}

function readEnvFile(path: string, faults: SettingFault[]): Environment {
  try {
    const { values, unread } = parseEnvFile(readFileSync(path))
    if (unread.length > 0)
      faults.push({
        setting: null,
        problem: `The file ${path} has lines that cannot be read (${unread.slice(0, 5).join(', ')}${unread.length > 5 ? ', ...' : ''}): write NAME=value, in UTF-8, with a quote at both ends of the value or at none.`,
      })
    return values
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT') return {}
    throw new UsageError(`The file ${path} cannot be read (${code}).`)
  }
}

function readSecretFiles(
  given: Environment,
  isRead: (setting: Setting) => boolean,
  faults: SettingFault[],
): Environment {
  const secrets: Environment = {}
  for (const { setting } of SETTING_LIST) {
    const { name } = setting
    const path = given[`${name}_FILE`]
    if (path === undefined || !setting.secret || !isRead(setting)) continue
    const fault = (problem: string) => faults.push({ setting, problem })
    if (given[name] !== undefined) fault(`${name} and ${name}_FILE are both set: keep one of them.`)
    else
      try {
        const text = decodeText(readFileSync(path)).trim()
        if (text === '') fault(`${name}_FILE names an empty file.`)
        else secrets[name] = text
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        fault(`${name}_FILE names a file that cannot be read (${code}).`)
      }
  }
  return secrets
}
