import { readFileSync } from 'node:fs'
import pg from 'pg'
import * as z from 'zod'

/**
 * An address that `pg` accepts, also of a socket. Its TLS parameters are replaced by those with which `pg` does what
 * docs/OPERATING.md ("PostgreSQL over TLS") says, without a warning. The rest is kept as written, because a password must
 * not change. `pg` reads certificate files for each connection, so that renewed ones are used.
 */
export const databaseAddress: z.ZodType<string, string> = z.string().transform((text, context) => {
  try {
    return checked(withOwnTls(text))
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    context.addIssue({ code: 'custom', message: error.message })
    return z.NEVER
  }
})

/** The message is the predicate of a sentence about the address. */
class Fault extends Error {}

const FORM =
  'must be an address that starts with postgres:// or postgresql:// (special characters in a password are written as %XX)'

function checked(text: string): string {
  if (!/^(postgres(ql)?:\/\/|socket:\/|\/)/i.test(text)) throw new Fault(FORM)
  try {
    new pg.Client({ connectionString: text })
    return text
  } catch {
    throw new Fault(FORM)
  }
}

/** Each `sslmode` as passed to `pg`, which warns about the first three and treats them as the fourth. */
const MODES: Readonly<Record<string, string>> = {
  allow: 'verify-full',
  prefer: 'verify-full',
  require: 'verify-full',
  'verify-full': 'verify-full',
  'verify-ca': 'verify-ca',
  'no-verify': 'no-verify',
  disable: 'disable',
}

/** Each value of `ssl`, which `pg` accepts too, as an `sslmode`. */
const SSL: Readonly<Record<string, string>> = {
  true: 'require',
  1: 'require',
  false: 'disable',
  0: 'disable',
}

const FILES = ['sslrootcert', 'sslcert', 'sslkey']
const TLS_WORDS = ['ssl', 'sslmode', ...FILES]

/** User and password may contain a comma. */
const SEVERAL_HOSTS = /^[a-z]+:\/\/(?:[^/@]*@)?[^/@]*,[^@]*$/i

/** @throws Fault */
function withOwnTls(text: string): string {
  const [, place = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(text) ?? []
  const words = Object.fromEntries(new URLSearchParams(query))
  const isSeveral = (word?: string) => word?.includes(',')
  if (SEVERAL_HOSTS.test(place) || isSeveral(words['host']) || isSeveral(words['port']))
    throw new Fault('names several hosts; only one is supported, that of the primary')
  if (words['target_session_attrs'] !== undefined)
    throw new Fault(
      'has target_session_attrs, which is not supported: remove it and name the host of the primary',
    )
  if (!TLS_WORDS.some((name) => name in words)) return text
  const replaced = [...TLS_WORDS, 'uselibpqcompat']
  const others = query.split('&').filter((word) => !replaced.includes(word.split('=')[0] ?? ''))
  const files = FILES.flatMap((name) => {
    const file = words[name]
    if (!file || (name === 'sslrootcert' && file === 'system')) return []
    requireFile(name, file)
    return [`${name}=${encodeURIComponent(file)}`]
  })
  return `${place}?${[...others, ...modeOf(words), ...files].join('&')}`
}

function modeOf(words: Record<string, string | undefined>): string[] {
  const { ssl = 'require', sslrootcert = '' } = words
  const mode = MODES[words['sslmode'] ?? SSL[ssl] ?? ssl]
  if (mode === undefined)
    throw new Fault(`has an unknown sslmode: use ${Object.keys(MODES).join(', ')}`)
  if (mode !== 'verify-ca') return [`sslmode=${mode}`]
  // Anyone can get a certificate of a public authority, so the name of the host must be verified.
  const isOwn = !['', 'system'].includes(sslrootcert)
  return isOwn ? ['uselibpqcompat=true', 'sslmode=verify-ca'] : ['sslmode=verify-full']
}

function requireFile(name: string, file: string): void {
  try {
    readFileSync(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Fault(`names in ${name} the file ${file}, which cannot be read (${code})`)
  }
}
