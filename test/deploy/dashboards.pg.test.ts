import { describe, expect, test } from 'vitest'
import { noteSchedule } from '../../src/core/queue/schedule.ts'
import { rolledBack } from '../../src/core/database/pool.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { openLoaded } from '../helpers/live.ts'
import { fileText, yamlDocuments } from './yaml-files.ts'

/** Grafana is not started here: its statements are run as it runs them. */

interface Statement {
  of: string
  rawSql: string
  format: string
}

const [{ datasources }] = yamlDocuments(
  'docs/grafana/provisioning/datasources/collab-sync.yml',
) as [any]
const dashboards: [name: string, panels: any[]][] = ['analysts', 'collab-sync'].map((name) => [
  name,
  JSON.parse(fileText(`docs/grafana/dashboards/${name}.json`)).panels,
])
const ofPanels: Statement[] = dashboards.flatMap(([name, panels]) =>
  panels.flatMap(({ title, targets }) =>
    targets
      .filter(({ rawSql }: any) => rawSql !== undefined)
      .map((target: any) => ({ ...target, of: `${name}: ${title}` })),
  ),
)
const ofDocument: Statement[] = fileText('docs/DASHBOARDS.md')
  .split('```sql\n')
  .slice(1)
  .map((text) => ({ of: 'docs/DASHBOARDS.md', rawSql: text.split('```')[0]!, format: 'table' }))

const schedule = { cron: '0 2 * * *', timeZone: 'UTC', nightlyLateAfterMs: 1_800_000 }
const live = await openLoaded('none', { world: { now: new Date(Date.now() - 86_400_000) } })
await noteSchedule(live.database.pool, schedule)
await live.database.pool.query(
  `update sync.nightly_due set due_at = due_at - (select min(due_at) from sync.nightly_due) + now()`,
)
await live.run({ trigger: 'schedule' })
randomChanges(live.world, { count: 12, seed: 7, kinds: ['edit', 'deleteComment'] })
await live.run()

test.each([...ofPanels, ...ofDocument])(
  '$of has rows for collab_reader',
  async ({ rawSql, format }) => {
    // As Grafana's documentation describes its macro, with the default time range of the analysts' dashboard.
    const [to, from] = [0, 90].map((days) => new Date(Date.now() - days * 86_400_000).toISOString())
    const text = rawSql.replaceAll(
      /\$__timeFilter\(([\w.:]+)\)/g,
      `$1 BETWEEN '${from}' AND '${to}'`,
    )
    expect(text).not.toContain('$__')
    await rolledBack(live.database.pool, async (client) => {
      await client.query('set local role collab_reader')
      const { rows, fields } = await client.query(text)
      expect(rows.length).toBeGreaterThan(0)
      if (format !== 'time_series') return
      expect(fields[0]?.name).toBe('time')
      const values = rows.flatMap((row) => Object.values(row).slice(1).map(Number))
      expect(Math.max(...values)).toBeGreaterThan(0)
      // A point for each of the days, also for those without rows.
      expect(rows).toHaveLength(90)
    })
  },
)

describe.each(dashboards)('the dashboard %s', (_, panels) => {
  test('describes each panel, and uses data sources that are provisioned', () => {
    const known = new Map(datasources.map(({ uid, type }: any) => [uid, type]))
    const targets = panels.flatMap((panel) => panel.targets)
    expect(targets.length).toBeGreaterThan(5)
    for (const { datasource } of [...panels, ...targets])
      expect(known.get(datasource.uid)).toBe(datasource.type)
    for (const { description } of panels) expect(description).toMatch(/^[A-Z].*\.$/)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  })

  test('has no panel above another', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)}:${y + Math.floor(n / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
  })
})
