import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { createEmptyDatabase } from '../helpers/database.ts'
import { installPacked } from '../helpers/installed.ts'
import { openLoaded } from '../helpers/live.ts'

/** The steps of docs/PRIVACY.md for a request of a person, with the commands that the page shows. */

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/PRIVACY.md'), 'utf8')

/** The blocks of a section, in their order. */
function blocksOf(heading: string): string[] {
  const section = PAGE.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(/^ *```(?:sh|sql)\n([^]*?)^ *```$/gm)].map(([, text = '']) => text)
}

test('a person gets a copy, is erased, and stays erased after a backup is restored', async () => {
  const live = await openLoaded('postgres')
  await live.run()
  const [user] = await live.rows(
    `select organization_id, user_id, u.email, u.name, count(*)::integer as comments
     from collab.users u join collab.comments c using (organization_id)
     where c.author_user_id = u.user_id and user_id ~ '^[a-z0-9-]+$' and organization_id ~ '^[a-z0-9-]+$' and u.email > ''
     group by 1, 2, 3, 4 order by comments desc limit 1`,
  )
  const { organization_id, user_id, email, name, comments } = user as Record<string, any>
  const installed = await installPacked()
  const own = (block: string) =>
    block
      .replaceAll('acme', organization_id)
      .replaceAll('user-17', user_id)
      .replaceAll('ann@example.com', email)
      .replaceAll('Ann Lee', name)
  const shell = (block: string, DATABASE_URL = live.database.url) =>
    installed.runShell(own(block), { ...live.environment, DATABASE_URL })

  const [find, person, copy, mentions, ...others] = blocksOf('A person requests a copy')
  expect(others).toEqual([])
  expect(await shell(find!)).toContain(`collab-sync show --user ${organization_id} ${user_id}`)
  await installed.write('person.sql', own(person!))
  await installed.write('mentions.sql', own(mentions!))
  await shell(copy!)
  const rows = (await shell('cat person.ndjson'))
    .trim()
    .split('\n')
    .map((row) => JSON.parse(row))
  const ofKind = (kind: string) => rows.filter((row) => kind in row)
  expect(ofKind('comment')).toHaveLength(comments)
  expect(ofKind('user')).toMatchObject([{ user: { name, email } }])
  for (const kind of ['user version', 'document', 'comment version'])
    expect(ofKind(kind)).not.toEqual([])
  expect(await shell('collab-sync psql --file mentions.sql')).toMatch(/\(\d+ rows?\)/)

  const backup = await createEmptyDatabase()
  const dump = 'pg_dump --format=custom --file=collab.dump "$DATABASE_URL"'
  await shell(dump)

  const [erase, keep, check, exported, vacuum, ...more] = blocksOf('A person requests erasure')
  expect(more).toEqual([])
  expect(await shell(erase!)).toMatch(/^Erased at /)
  await shell(keep!)
  expect(await shell(check!)).toMatch(/^Nothing was found\.[^]*ticket 4711\n\(1 row\)/)
  expect(await shell(`${exported} cat users.csv comments.csv`)).not.toContain(email)
  await shell(vacuum!)

  const restore =
    'pg_restore --no-owner --no-acl --exit-on-error --dbname="$DATABASE_URL" collab.dump'
  await shell(restore, backup.url)
  expect(await shell(find!, backup.url)).toContain(user_id)
  const [restored] = blocksOf('A backup was restored')
  // A script that a user types does not end with the first error: the second time, nothing is left to erase.
  expect(await shell(`set +e; ${restored}\n true`, backup.url)).toContain('Erased at ')
  expect(await shell(check!, backup.url)).toMatch(/^Nothing was found\.[^]*ticket 4711\n\(1 row\)/)
})
