// The least that a program can do with the service: `node bare-loop.js catalog.ndjson` makes the call of each line of the
// catalog and parses the response.
import { readFileSync } from 'node:fs'
import { Pool } from 'undici'

const { COLLAB_API_URL = '', COLLAB_API_KEY = '', COLLAB_AUTH_TOKEN = '' } = process.env
const IN_FLIGHT = 64

const lines = readFileSync(process.argv[2] as string, 'utf8')
  .split('\n')
  .filter(Boolean)
const service = new Pool(new URL(COLLAB_API_URL).origin, { connections: IN_FLIGHT })
const headers = {
  'content-type': 'application/json',
  'x-service-api-key': COLLAB_API_KEY,
  'x-service-auth-token': COLLAB_AUTH_TOKEN,
}

await Promise.all(
  Array.from({ length: IN_FLIGHT }, async () => {
    for (let line = lines.pop(); line !== undefined; line = lines.pop()) await call(line)
  }),
)
await service.close()

async function call(line: string): Promise<void> {
  const {
    organizationId,
    documentId,
    annotationId,
    organizationUserGroupId: group,
  } = JSON.parse(line)
  const path = annotationId === undefined ? 'users' : 'commentannotations/comments'
  const organizationUserGroupIds = group && [group]
  const data = { organizationId, documentId, annotationId, organizationUserGroupIds }
  const { statusCode, body } = await service.request({
    method: 'POST',
    path: `/v1/${path}/get`,
    headers,
    body: JSON.stringify({ data }),
  })
  if (statusCode !== 200) throw new Error(`HTTP ${statusCode}`)
  JSON.parse(await body.text())
}
