import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { readNameRedaction } from '../../src/features/privacy/rules.ts'
import type { FaultRule } from '../service/faults.ts'
import type { Live } from '../helpers/live.ts'

/** Ids, a name and a text that would do harm wherever they are not shown as text. */
export const HOSTILE = {
  organizationId: '"><img src=x onerror="window.harmed=true">',
  documentId: '<script>window.harmed=true</script>',
  annotationId: '</title></pre><script>window.harmed=true</script>',
  userName: '"><img onerror>',
  commentText: '<script>window.harmed=true</script>',
  organizationName: '"><svg onload="window.harmed=true">',
} as const

/** Names such a place in the catalog; the service does not know it, so that asking for it fails. */
export async function importHostilePlace(live: Live): Promise<void> {
  const { organizationId, documentId, annotationId, organizationName } = HOSTILE
  const line = { organizationId, documentId, annotationId, organizationName }
  await importCatalog(live.database.pool, listSource('hostile', [line]), {
    prune: false,
    redaction: readNameRedaction,
  })
}

/** Serves such a name for a user whom an organization did not have. */
export function putHostileUser(live: Live, organizationId: string): void {
  live.world.putUser(organizationId, {
    userId: 'hostile-user',
    name: HOSTILE.userName,
    email: 'hostile@example.org',
  } as Parameters<Live['world']['putUser']>[1])
}

/** Answers for the comments of one organization with one that cannot be stored, so that it is shown as it was received. */
export function hostileComments(organizationId: string): FaultRule {
  const comment = { commentId: 'none', commentText: HOSTILE.commentText }
  const body = { result: { status: 'success', message: 'ok', data: [comment] } }
  return {
    kind: 'custom',
    match: { operation: 'comments', organizationId },
    times: 1,
    respond(_request, response) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(body))
    },
  }
}
