import { figure } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { projectionTable } from '../projection.ts'
import { measureSize, sizesTable } from '../sized-run.ts'

const [SMALL, LARGE] = [10_000, 100_000]

export const sizes: Comparison = {
  name: 'sizes',
  title: 'What a size costs',
  explains:
    'Catalogs of 10,000 and 100,000 annotations: import, first load, and a run again where nothing changed, each run by `collab-sync run` in a process of its own with the queue on PostgreSQL; the stand-in makes its answers anew for each call and takes a good part of the two cores. What grows faster than the work shows in the ratios: the CPU and the WAL a call are those of the smaller size. `npm run bench -- million` does the same with 1,000,000.',
  async run(servers) {
    const small = await measureSize(servers, SMALL, ['postgres'])
    const large = await measureSize(servers, LARGE, ['postgres'])
    return {
      tables: [
        sizesTable([small, large], 'PostgreSQL'),
        projectionTable(large, [LARGE, 1_000_000]),
      ],
      figures: [
        figure(
          'sizes.cpu',
          'CPU a call with 100,000 annotations / with 10,000',
          [large.cpuUsACall / small.cpuUsACall],
          { better: 'lower' },
        ),
        figure(
          'sizes.wal',
          'WAL a comment, nothing changed, with 100,000 annotations / with 10,000',
          [large.walACommentAgain / small.walACommentAgain],
          { better: 'lower' },
        ),
        figure('sizes.peak', 'peak of the process at 100,000', [Math.max(...large.peaksMb)], {
          unit: 'MB',
          atMost: 300,
        }),
      ],
    }
  },
}
