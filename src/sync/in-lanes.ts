/**
 * Works on items as they come, a fixed number at a time, so that memory does not grow with their number.
 * The first failure ends it: what is in hand comes to its end, nothing more is taken up.
 * @throws that first failure
 */
export async function inLanes<T>(
  items: AsyncIterator<T>,
  lanes: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let failure: { error: unknown } | null = null
  const lane = async () => {
    try {
      while (failure === null) {
        const next = await items.next()
        if (next.done) return
        await work(next.value)
      }
    } catch (error) {
      failure ??= { error }
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  if (failure !== null) throw (failure as { error: unknown }).error
}
