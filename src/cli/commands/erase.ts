import { openDatabase } from '../../core/database/pool.ts'
import { eraseUser } from '../../features/privacy/erase/erase-user.ts'
import { UsageError } from '../../base/errors.ts'
import { count, counted, time } from '../../schemas/format.ts'
import { facts, note, print, printJson } from '../output.ts'
import { withTables } from '../with-store.ts'

interface EraseOptions {
  reason: string
  organization?: string
  json?: boolean
}

/** `collab-sync erase user ID` and `erase email ADDRESS`. */
export async function eraseCommand(
  kind: 'userId' | 'email',
  id: string,
  options: EraseOptions,
): Promise<number> {
  const { organization = null, json } = options
  const reason = options.reason.trim()
  if (reason === '') throw new UsageError('--reason is empty.')
  const command = { name: 'erase', need: ['database', 'queue'] } as const
  return withTables(command, async ({ database, databaseUrl, queuePlace }) => {
    const hasOwnDatabase = queuePlace.kind === 'postgres' && queuePlace.url !== databaseUrl
    const queueDatabase = hasOwnDatabase ? openDatabase(queuePlace.url, { max: 1 }) : undefined
    const request = {
      ...(kind === 'userId' ? { userId: id } : { email: id }),
      ...(queueDatabase && { queueDatabase }),
      organizationId: organization,
      reason,
    }
    const done = await eraseUser(database, request).finally(() => queueDatabase?.end())
    if (done.isResumed) note('An interrupted erasure of this person was continued.')
    if (json) return printJson(done)
    print(`Erased at ${time(done.erasedAt)} (erasure_id ${done.erasureId} in sync.erasures).\n`)
    print(
      facts([
        ['pseudonym', done.pseudonym],
        ['users', `${count(done.users)}, and ${count(done.userVersions)} earlier versions`],
        [
          'comments',
          `${count(done.comments)}, and ${count(done.commentVersions)} earlier versions`,
        ],
        ['memberships', count(done.memberships)],
        ['records that name the person', count(done.mentionsInRecords)],
        ['rejected records', count(done.rejectedRecords)],
        ['messages', count(done.messages)],
      ]),
    )
    if (done.mentionsLeft > 0)
      print(
        `\n${counted(done.mentionsLeft, 'comment')} of other people may name the person. Their text is not changed.`,
      )
  })
}
