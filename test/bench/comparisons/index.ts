import type { Comparison } from '../bench.ts'
import { bytes } from './bytes.ts'
import { changed } from './changed.ts'
import { firstLoad } from './first-load.ts'
import { listings } from './listings.ts'
import { memory } from './memory.ts'
import { million } from './million.ts'
import { network } from './network.ts'
import { reports } from '../reports/reports.ts'
import { queue } from './queue.ts'
import { script } from './script.ts'
import { sizes } from './sizes.ts'
import { unchanged } from './unchanged.ts'
import { workers } from './workers.ts'

/** Every comparison, in the order of the page. */
export const comparisons: readonly Comparison[] = [
  network,
  script,
  firstLoad,
  unchanged,
  changed,
  memory,
  workers,
  queue,
  bytes,
  listings,
  sizes,
  million,
  reports,
]
