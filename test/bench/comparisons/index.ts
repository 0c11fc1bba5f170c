import type { Comparison } from '../bench.ts'
import { changed } from './changed.ts'
import { firstLoad } from './first-load.ts'
import { large } from './large.ts'
import { memory } from './memory.ts'
import { script } from './script.ts'
import { unchanged } from './unchanged.ts'

/** Every comparison, in the order of docs/PERFORMANCE.md. */
export const comparisons: readonly Comparison[] = [
  script,
  firstLoad,
  unchanged,
  changed,
  memory,
  large,
]
