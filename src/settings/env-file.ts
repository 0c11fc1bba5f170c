import { decodeText } from '../base/secret-file.ts'

/**
 * One entry of `.env`: blank, a comment, NAME alone (docker compose then uses the environment), or NAME=value, where quotes
 * may contain line ends. `unread` is any other line.
 */
const ENTRY = new RegExp(
  [
    String.raw`^[^\S\n]*(?:#.*|(?:export[^\S\n]+)?(?:[A-Z_][A-Z\d_]*|`,
    String.raw`(?<name>[\w.-]+)(?:[^\S\n]*=|:(?=\s))[^\S\n]*(?:`,
    String.raw`(?:'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\[^])*)"|${'`'}(?<back>[^${'`'}]*)${'`'})[^\S\n]*(?:#.*)?|`,
    // As in a shell, a comment begins after a blank. Keys and passwords may contain #.
    // After a blank, # is a comment; directly after = it is one too where a blank or nothing follows.
    String.raw`(?:(?<=[^\S\n])#.*|#(?:[^\S\n].*)?)?|(?<plain>[^\s'"${'`'}].*?)(?:[^\S\n]+#.*)?`,
    String.raw`)))?[^\S\n]*$|^(?<unread>.+)$`,
  ].join(''),
  'gm',
)

/** How docker compose and a shell read a backslash between double quotes; `\n` and `\r` as docker compose and dotenv. */
const ESCAPED = /\\([nr"\\$`])/g
const LINE_ENDS: Record<string, string> = { n: '\n', r: '\r' }

/**
 * Reads a file `.env`. Variables ($NAME) are not expanded, because keys and passwords may contain `$`.
 * @returns the values by name (the last one applies), and the numbers of lines that cannot be read
 */
export function parseEnvFile(bytes: Uint8Array) {
  const text = decodeText(bytes).replace(/\r\n?/g, '\n')
  const values: Record<string, string> = {}
  const unread: number[] = []
  for (const { index, 0: entry, groups = {} } of text.matchAll(ENTRY)) {
    const { name, single, double, back, plain, unread: line } = groups
    // A NUL or a replacement character shows another encoding, which only a comment may have.
    if (line !== undefined || (name !== undefined && /[\0\uFFFD]/.test(entry)))
      unread.push(text.slice(0, index).split('\n').length)
    else if (name !== undefined)
      values[name] =
        single ??
        back ??
        plain ??
        (double ?? '').replace(ESCAPED, (_, escaped: string) => LINE_ENDS[escaped] ?? escaped)
  }
  return { values, unread }
}
