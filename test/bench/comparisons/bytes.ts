import { figure, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { openDirectSync } from '../direct-run.ts'
import { MemoryApi } from '../memory-api.ts'
import { createDatabaseOf } from '../memory-place.ts'
import { FOUR_THOUSAND, worldOf } from '../worlds.ts'

export const bytes: Comparison = {
  name: 'bytes',
  title: 'Bytes a comment on disk',
  explains:
    "The same comments stored by a run, and copied into a table of just the contract's columns with the contract's key (four columns, `raw` as jsonb). Ours keeps a narrow key instead of three texts, each text once (`raw` is put together from the columns), a digest, and nothing of history for what never changed; what it has besides is the indexes that `reporting` is answered from.",
  async run(servers) {
    const world = worldOf(FOUR_THOUSAND)
    const database = await createDatabaseOf(servers, world)
    const api = new MemoryApi()
    api.prepare(world, 0)
    const sync = await openDirectSync(api, database)
    try {
      await sync.run()
      const { pool } = database
      await pool.query('create schema plain')
      await pool.query('create table plain.comments as select * from collab.comments')
      await pool.query(
        'alter table plain.comments add primary key (organization_id, document_id, annotation_id, comment_id)',
      )
      await pool.query('vacuum (full, analyze) collab_store.comments')
      const { rows } = await pool.query(`
        select n.nspname || '.' || i.relname as name, pg_relation_size(i.oid)::int as bytes, i.relkind as kind
        from pg_class i join pg_namespace n on n.oid = i.relnamespace
        where i.oid in ('collab_store.comments'::regclass, 'plain.comments'::regclass)
          or i.oid in (select indexrelid from pg_index where indrelid in ('collab_store.comments'::regclass, 'plain.comments'::regclass))
          or i.oid in (select reltoastrelid from pg_class where oid in ('collab_store.comments'::regclass, 'plain.comments'::regclass))
        order by 1`)
      const count = (
        await pool.query('select count(*)::int as comments from collab_store.comments')
      ).rows[0].comments
      const sum = (test: (row: { name: string; kind: string }) => boolean) =>
        rows.filter(test).reduce((total: number, row: { bytes: number }) => total + row.bytes, 0) /
        count
      const plain = sum(({ name }) => name.startsWith('plain.'))
      const core = sum(
        ({ name }) => name === 'collab_store.comments' || name === 'collab_store.comments_pkey',
      )
      const all = sum(({ name }) => name.startsWith('collab_store.'))
      return {
        tables: [
          {
            title: '40,000 comments, after vacuum full',
            head: ['', 'bytes a comment'],
            rows: rows.map((row: { name: string; bytes: number }) => [
              row.name,
              short(row.bytes / count),
            ]),
          },
        ],
        figures: [
          figure('bytes.core', 'heap and key / the table of the contract', [core / plain], {
            better: 'lower',
          }),
          figure(
            'bytes.all',
            'with the indexes for reporting / the table of the contract',
            [all / plain],
            { better: 'lower' },
          ),
        ],
      }
    } finally {
      await sync.close()
      await database.drop()
    }
  },
}
