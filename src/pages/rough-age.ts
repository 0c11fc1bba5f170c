/** An age as fine as it matters: of five hours the minutes, of twenty the hours, of three days the days. */
export function roughAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return 'less than a minute'
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 6) return `${hours} h ${minutes % 60} min`
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`
}
