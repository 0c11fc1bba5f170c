import type { Setting, SettingGroup } from '../../src/settings/setting.ts'
import { SETTING_LIST } from '../../src/settings/table.ts'

const HEADINGS: Record<SettingGroup, string> = {
  service: 'The service',
  database: 'PostgreSQL',
  queue: 'The queue (BullMQ)',
  sync: 'Runs',
  refresh: 'Freshness and continuous refresh',
  catalog: 'The catalog, from a query of yours (otherwise: `collab-sync catalog import FILE`)',
  reports: 'Reports',
  privacy: 'Privacy and history',
  http: '`collab-sync serve`',
  notify: 'Notifications',
  telemetry: 'Log, metrics and traces',
}

const HEAD = String.raw`# Settings

collab-sync reads its settings from the environment and from the file ${'`'}.env${'`'} in the working directory. The environment wins over the file. An empty setting counts as unset. A process reads its settings when it starts; \`worker\` and \`doctor\` warn of a name that is probably misspelt. \`npm run generate\` writes this page from the table in \`src/settings/\`.

A setting marked *required* must be set for the commands that use its section. A setting marked *secret* may be in a file: name the file in \`NAME_FILE\` instead of setting \`NAME\`.

## The file \`.env\`

Write one \`NAME=value\` a line, in UTF-8 (collab-sync reads UTF-16 as well, docker compose does not). If a value holds a blank or one of \`\ $ # "\`, put single quotes around it: docker compose, a shell and the package dotenv then read the same value as collab-sync. Otherwise they differ:

| in the file | how others read it |
| --- | --- |
| \`$NAME\` | docker compose and a shell replace it, also between double quotes: docker compose reads the password \`a$bc$1d#e\` as \`a$1d#e\`. collab-sync and dotenv keep it, because passwords hold \`$\`. |
| \`a#b\` | dotenv ends the value before \`#\`. For the others a comment begins after a blank. |
| \`"\" \\ \$"\` | one character each, but not for dotenv. \`"\n"\` and \`"\r"\` are line ends, but not for a shell. |
| \`NAME = a b\`, \`NAME: a b\` | a shell cannot read these lines. |

If a line cannot be read, the command reports its number and exits with 2; dotenv skips the line.`.replaceAll(
  '\\`',
  '`',
)

/** The text of docs/SETTINGS.md: one row for each setting. */
export function settingsPage(): string {
  const groups = Object.entries(HEADINGS).map(([group, heading]) => {
    const rows = SETTING_LIST.filter(({ setting }) => setting.group === group).map(rowOf)
    return [
      `## ${heading}\n`,
      '| setting | meaning | default | value | example |',
      '| --- | --- | --- | --- | --- |',
      ...rows,
    ].join('\n')
  })
  return `${[HEAD, ...groups].join('\n\n')}\n`
}

function rowOf({ setting }: (typeof SETTING_LIST)[number]): string {
  const { name, meaning, secret, required, command } = setting
  const marks = [required && 'required', secret && 'secret'].filter(Boolean).join(', ')
  const fallback = setting.default === undefined ? 'none' : code(setting.default)
  const given = setting.example === undefined ? '' : code(setting.example)
  const example = command === undefined ? given : `the output of ${code(command)}`
  const named = `${code(name)}${marks && ` (${marks})`}`
  return `| ${[named, meaning, fallback, valueOf(setting), example].join(' | ')} |`
}

/** What the setting accepts, in the words in which its parser refuses another value. */
function valueOf({ parse }: Setting): string {
  const refusals = ['? ?', '\0'].flatMap((text) => parse.safeParse(text).error?.issues ?? [])
  const { message = '' } = refusals[0] ?? {}
  return /NUL/.test(message) ? 'any text' : message.replace(/^must be /, '')
}

function code(text: string): string {
  return `\`${text}\``
}
