/**
 * Milliseconds of a `Retry-After` header: seconds, or a date, counted from the answer's own `Date` where
 * it has one, so that two clocks are not compared. Null where there is none or it cannot be read.
 */
export function retryAfterMsOf(
  retryAfter: string | undefined,
  date: string | undefined,
): number | null {
  if (retryAfter === undefined) return null
  const text = retryAfter.trim()
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  const untilMs = HTTP_DATE.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(untilMs)) return null
  const sentMs = date === undefined ? NaN : Date.parse(date)
  return Math.max(0, untilMs - (Number.isNaN(sentMs) ? Date.now() : sentMs))
}

/** A date starts with the name of its day; `Date.parse` alone would take `-5` for a month. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? /
