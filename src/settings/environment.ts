import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse as parseEnvFile } from 'dotenv'
import { UsageError } from '../errors.ts'
import { SETTING_LIST, SETTINGS } from './table.ts'
import type { Setting } from './setting.ts'

/** The environment, such as `process.env`. */
export type Environment = Record<string, string | undefined>

/**
 * What is written for each setting, in the environment, else in the file `.env`; where NAME is a secret, also in the file
 * that NAME_FILE says. What is empty is left out.
 * @param directory where `.env` is
 * @param isRead whether the command needs a setting: no other secret's file is opened
 * @returns `faults`: sentences about files that cannot be used
 * @throws UsageError where `.env` cannot be read
 */
export function readTexts(
  environment: Environment,
  directory: string,
  isRead: (setting: Setting) => boolean,
): { given: Environment; faults: string[] } {
  const faults: string[] = []
  const written = withoutEmpty({
    ...readEnvFile(join(directory, '.env')),
    ...withoutOuterQuotes(environment),
  })
  return { given: { ...written, ...readSecretFiles(written, isRead, faults) }, faults }
}

function readEnvFile(path: string): Environment {
  try {
    return readEnvText(readFileSync(path, 'utf8').replaceAll('\r\n', '\n'))
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT') return {}
    throw new UsageError(`The file ${path} cannot be read (${code}).`)
  }
}

/** The secrets that `NAME_FILE` says where to find. The token's own file is read when the token is needed, again and again. */
function readSecretFiles(
  given: Environment,
  isRead: (setting: Setting) => boolean,
  faults: string[],
): Environment {
  const secrets = SETTING_LIST.map(({ setting }) => setting).filter(
    (setting) => setting.secret && setting !== SETTINGS.authToken && isRead(setting),
  )
  return Object.fromEntries(
    secrets.flatMap(({ name }) => {
      const path = given[`${name}_FILE`]
      if (path === undefined) return []
      if (given[name] !== undefined) {
        faults.push(`${name} and ${name}_FILE are both set: keep one of them.`)
        return []
      }
      try {
        const text = readFileSync(path, 'utf8').trim()
        if (text !== '') return [[name, text]]
        faults.push(`${name}_FILE names an empty file.`)
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        faults.push(`${name}_FILE names a file that cannot be read (${code}).`)
      }
      return []
    }),
  )
}

/** dotenv ends a value without quotes at any `#`; for a shell, as for compose, a comment begins only after a space. */
function readEnvText(text: string): Environment {
  const values: Environment = parseEnvFile(text)
  for (const [, name = '', value = ''] of text.matchAll(WITHOUT_QUOTES))
    if (values[name] === value.split('#')[0]?.trimEnd()) values[name] = value
  return values
}

const WITHOUT_QUOTES =
  /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?!#[ \t\n]|#$)([^\s'"`].*?)(?=[ \t]+#|[ \t]*$)/gm

/** `docker run --env-file` keeps the quotes that stand around a value. */
function withoutOuterQuotes(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value?.replace(/^\s*(["'])(.*)\1\s*$/s, '$2'),
    ]),
  )
}

function withoutEmpty(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment)
      .map(([name, value]) => [name, value?.trim()])
      .filter(([, value]) => value !== undefined && value !== ''),
  )
}
