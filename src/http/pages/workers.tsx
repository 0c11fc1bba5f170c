import type { FastifyInstance } from 'fastify'
import {
  mixedVersions,
  PROCESS_COLUMNS,
  SETTING_COLUMNS,
  sharedSettingsOf,
} from '../../schemas/process.ts'
import { Card } from './elements.tsx'
import { sendPage } from './layout.tsx'
import { READ } from './page-context.ts'
import type { PageContext } from './page-context.ts'
import { Table } from './tables.tsx'

/** `/workers`: the live processes, and the settings with which they started. */
export function workerRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get('/workers', READ, async (_request, reply) => {
    const { items } = await collabSync.listWorkers()
    const versions = mixedVersions(items)
    return sendPage(
      reply,
      { title: 'Workers', part: '/workers' },
      <>
        <section class="card">
          {versions.length > 0 && (
            <p class="notice warn">Processes have different versions: {versions.join(', ')}.</p>
          )}
          <Table
            caption="Live processes"
            columns={PROCESS_COLUMNS}
            rows={items}
            empty="No process is running."
          />
        </section>
        <Card title="Settings">
          <p class="soft">
            The values with which the processes started. Those that differ between processes are
            marked. Settings without a value are not listed.
          </p>
          <Table
            caption="Settings"
            isTitled
            columns={SETTING_COLUMNS}
            rows={sharedSettingsOf(items)}
            empty="No process is running."
          />
        </Card>
      </>,
    )
  })
}
