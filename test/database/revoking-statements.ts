import { readFileSync } from 'node:fs'

/** The statements of docs/OPERATING.md that revoke what every role may create, for a database. */
export function revokingStatements(url: string): string {
  const page = readFileSync(new URL('../../docs/OPERATING.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('## Access to PostgreSQL')
  return [...section.matchAll(/^revoke .*;$/gm)]
    .join('\n')
    .replace('on database collab ', `on database ${new URL(url).pathname.slice(1)} `)
}
