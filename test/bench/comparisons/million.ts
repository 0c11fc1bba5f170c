import { figure } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { PROJECTION_EXPLAINS, projectionTable } from '../projection.ts'
import { measureSize, sizesTable } from '../sized-run.ts'

const [SMALL, LARGE] = [10_000, 1_000_000]
const PROJECTED = [LARGE, 10_000_000, 100_000_000]

export const million: Comparison = {
  name: 'million',
  title: 'A million annotations, and more',
  isOnlyByName: true,
  explains: `As above with 1,000,000 annotations and 2,000,000 comments, the first load and a run again with the queue on PostgreSQL, and one more with the queue on Redis. It takes half an hour, so it is measured only when asked for by its name. 10,000,000 and 100,000,000 are projected. ${PROJECTION_EXPLAINS}`,
  async run(servers) {
    const queues = ['postgres', ...(servers.redisUrl === null ? [] : (['redis'] as const))] as const
    const small = await measureSize(servers, SMALL, queues)
    const large = await measureSize(servers, LARGE, queues)
    const [firstMb, ...againMb] = large.peaksMb
    return {
      tables: [sizesTable([small, large], queues.join(', ')), projectionTable(large, PROJECTED)],
      figures: [
        figure('million.first-load-peak', 'peak, first load', [firstMb ?? 0], {
          unit: 'MB',
          atMost: 300,
        }),
        ...queues.map((queue, index) =>
          figure(`million.again-peak.${queue}`, `peak, queue on ${queue}`, [againMb[index] ?? 0], {
            unit: 'MB',
            atMost: 300,
          }),
        ),
        figure(
          'million.cpu',
          'CPU a call with 1,000,000 annotations / with 10,000',
          [large.cpuUsACall / small.cpuUsACall],
          { better: 'lower' },
        ),
        figure('million.status', 'the slowest of what status asks', [large.statusMs], {
          unit: 'ms',
          atMost: 50,
        }),
        figure(
          'million.plan',
          'the slower of counting all scopes and a page of them',
          [large.planMs],
          {
            unit: 'ms',
            atMost: 50,
          },
        ),
      ],
    }
  },
}
