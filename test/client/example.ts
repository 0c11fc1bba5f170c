import { openCollabSync } from 'collab-sync'

const collabSync = await openCollabSync()
try {
  const { runId } = await collabSync.startRun({
    scope: { organizationIds: ['acme'] },
    idempotencyKey: 'acme, after Monday’s import',
  })
  for await (const run of collabSync.watchRun(runId)) {
    console.log(`${run.status}: ${run.scopesSucceeded} of ${run.scopesExpected} scopes`)
  }
  const { failuresByCause = [] } = (await collabSync.getRun(runId)) ?? {}
  for (const { scopes, errorMessage } of failuresByCause) console.log(scopes, errorMessage)
} finally {
  await collabSync.close()
}
