let takenAt = process.cpuUsage()

/** Milliseconds of CPU that this process used since it was last asked: each commit counts what led to it. */
export function takeCpuMs(): number {
  const { user, system } = process.cpuUsage(takenAt)
  takenAt = process.cpuUsage()
  return (user + system) / 1000
}
