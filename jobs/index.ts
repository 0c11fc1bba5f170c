import { changeCatalogJob } from './change-catalog.ts'
import { hintJob } from './hint.ts'
import type { Job } from '../src/worker/worker.ts'
import { pageDocumentsJob } from './page-documents.ts'
import { pageOrganizationsJob } from './page-organizations.ts'
import { startNightlyRunJob } from './start-nightly-run.ts'
import { startRunJob } from './start-run.ts'
import { syncBatchJob } from './sync-batch.ts'

/** Every kind of job. */
export const jobs: readonly Job[] = [
  startRunJob,
  startNightlyRunJob,
  pageOrganizationsJob,
  pageDocumentsJob,
  syncBatchJob,
  changeCatalogJob,
  hintJob,
]
