import { Random } from '../../src/demo/random.ts'

/**
 * When comments of a made-up catalog are added, edited and deleted: heavy-tailed cascades of answers, review sessions, revivals,
 * office hours. No real trace was at hand. Deterministic by its seed; seconds from the world's begin.
 */
export interface Activity {
  readonly annotations: readonly ActiveAnnotation[]
  readonly days: number
}

export interface ActiveAnnotation {
  readonly organization: number
  readonly document: number
  /** When the catalog hears of it; 0 of those that it has from the begin. */
  readonly knownS: number
  readonly events: readonly Event[]
}

export interface Event {
  readonly atS: number
  readonly kind: 'add' | 'edit' | 'delete'
}

export interface ActivityOptions {
  readonly annotations: number
  readonly seed: number
  readonly days: number
  /** Without them every comment comes by itself, at random times: nothing announces it. */
  readonly hasBursts?: boolean
}

const HOUR = 3600
const DAY = 86_400
const HISTORY_DAYS = 90
const LIFE = 3 * 365 * DAY
const ZONES = [-8, -5, -5, 0, 1, 1, 2, 5.5, 9]

export function makeActivity(options: ActivityOptions): Activity {
  const { annotations: wanted, seed, days, hasBursts = true } = options
  const random = new Dice(seed)
  const end = days * DAY
  const annotations: ActiveAnnotation[] = []
  const organizations = Math.max(20, Math.round(wanted / 1000))
  const shares = Array.from({ length: organizations }, (_, index) => 1 / (index + 1))
  const all = shares.reduce((sum, share) => sum + share)
  let document = 0
  for (const [organization, share] of shares.entries()) {
    const zone = ZONES[random.below(ZONES.length)] ?? 0
    const heatOf = Math.exp(0.35 * random.normal())
    let left = Math.max(20, Math.round((wanted * share) / all))
    for (; left > 0; document += 1) {
      const usual = 1 + Math.floor(random.logNormal(8, 1.3))
      const size = Math.min(left, random.next() < 0.002 ? usual * 60 : usual)
      left -= size
      const born = -LIFE + random.next() * (LIFE + end)
      const events: Event[][] = Array.from({ length: size }, () => [])
      const thread = new Threads(random, { zone, end, hasBursts })
      const heats = events.map(() => Math.min(0.93, (0.62 * heatOf * random.gamma(0.9)) / 0.9))
      for (const [index, its] of events.entries()) {
        const heat = heats[index] ?? 0
        const wait = index === 0 ? 0 : random.exponential((random.next() < 0.7 ? 4 : 90) * DAY)
        const created = random.officeTime(born + wait, zone)
        const begun = created < end ? created : born
        thread.comment(its, begun, heat)
        const revivals = (hasBursts ? 0.25 : 1.1) * Math.exp(1.6 * random.normal() - 0.8)
        const gap = (365 * DAY) / revivals
        for (let at = begun + random.exponential(gap); at < end; at += random.exponential(gap))
          thread.comment(its, random.officeTime(at, zone), heat)
      }
      if (hasBursts) sessions(random, thread, events, { born, end, zone })
      for (const its of events.map((each) => each.sort((one, other) => one.atS - other.atS)))
        annotations.push({
          organization,
          document,
          knownS: Math.max(0, (its[0]?.atS ?? 0) + random.next() * HOUR),
          events: its.filter(({ atS }) => atS > -HISTORY_DAYS * DAY || its[0]?.atS === atS),
        })
    }
  }
  return { annotations, days }
}

/** Several threads of one document within two hours. */
function sessions(
  random: Dice,
  thread: Threads,
  events: Event[][],
  { born, end, zone }: { born: number; end: number; zone: number },
): void {
  const gap = (365 * DAY) / (1.2 * Math.exp(1.3 * random.normal() - 0.6))
  for (let at = born + random.exponential(gap); at < end; at += random.exponential(gap)) {
    const begun = random.officeTime(at, zone)
    const many = Math.min(30, Math.max(1, Math.round(events.length * 0.15)))
    for (let each = 0; each < many; each += 1) {
      const its = events[random.below(events.length)] ?? []
      const first = its[0]?.atS ?? Infinity
      if (first < begun) thread.comment(its, begun + random.next() * 2 * HOUR, 0.4)
    }
  }
}

/** One comment and the answers that it draws. */
class Threads {
  readonly #random: Dice
  readonly #of: { readonly zone: number; readonly end: number; readonly hasBursts: boolean }

  constructor(random: Dice, of: { zone: number; end: number; hasBursts: boolean }) {
    this.#random = random
    this.#of = of
  }

  comment(events: Event[], atS: number, heat: number): void {
    const random = this.#random
    const { end, hasBursts, zone } = this.#of
    const waiting = [atS]
    for (let made = 0; made < 400; made += 1) {
      const at = waiting.pop()
      if (at === undefined) return
      const emit = (time: number, kind: Event['kind']) => {
        if (time < end) events.push({ atS: time, kind })
      }
      emit(at, 'add')
      if (!hasBursts) continue
      if (random.next() < 0.08)
        emit(
          at + (random.next() < 0.7 ? random.logNormal(240, 1) : random.exponential(6 * DAY)),
          'edit',
        )
      if (random.next() < 0.02) emit(at + random.exponential(2 * DAY), 'delete')
      for (let answers = random.poisson(heat); answers > 0; answers -= 1) {
        const answered = random.officeTime(at + this.#delay(), zone)
        if (answered < end) waiting.push(answered)
      }
    }
  }

  #delay(): number {
    const random = this.#random
    const which = random.next()
    if (which < 0.45) return random.logNormal(12 * 60, 1.2)
    if (which < 0.82) return random.logNormal(5 * HOUR, 1)
    return 6 * HOUR * Math.pow(1 - random.next() * 0.995, -0.9)
  }
}

/** Numbers of the distributions that activity has. */
class Dice extends Random {
  normal(): number {
    return Math.sqrt(-2 * Math.log(this.next() + 1e-12)) * Math.cos(2 * Math.PI * this.next())
  }

  exponential(mean: number): number {
    return -Math.log(1 - this.next()) * mean
  }

  logNormal(median: number, spread: number): number {
    return median * Math.exp(spread * this.normal())
  }

  poisson(mean: number): number {
    const least = Math.exp(-mean)
    let [count, product] = [0, this.next()]
    for (; product > least; product *= this.next()) count += 1
    return count
  }

  /** Of a shape below 1 (Marsaglia and Tsang). */
  gamma(shape: number): number {
    if (shape < 1) return this.gamma(shape + 1) * Math.pow(this.next() + 1e-12, 1 / shape)
    const d = shape - 1 / 3
    for (;;) {
      const x = this.normal()
      const v = (1 + x / Math.sqrt(9 * d)) ** 3
      if (v > 0 && Math.log(this.next() + 1e-12) < 0.5 * x * x + d * (1 - v + Math.log(v)))
        return d * v
    }
  }

  /** Moves most times outside of office hours into them. */
  officeTime(atS: number, zone: number): number {
    let at = atS
    for (let tries = 0; tries < 3; tries += 1) {
      const local = at + zone * HOUR
      const day = Math.floor(local / DAY)
      const hour = (local - day * DAY) / HOUR
      if ((isWeekday(day) && hour >= 8 && hour < 18) || this.next() > 0.85) return at
      let next = hour >= 18 ? day + 1 : day
      while (!isWeekday(next)) next += 1
      at = next * DAY + (8.5 + 9 * Math.pow(this.next(), 1.3)) * HOUR - zone * HOUR
    }
    return at
  }
}

/** The world begins on a Thursday. */
function isWeekday(day: number): boolean {
  return (((day + 3) % 7) + 7) % 7 < 5
}
