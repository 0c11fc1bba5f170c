/** One server-sent event. */
export interface ServerEvent {
  readonly event: string
  readonly id: string | null
  readonly data: Record<string, unknown>
}

/** The events of an answer, as they come; comments and `retry` are left out. */
export async function* eventsOf(answer: Response): AsyncGenerator<ServerEvent> {
  let text = ''
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const members = new Map(
        block.split('\n').map((line) => {
          const [name = '', ...value] = line.split(': ')
          return [name, value.join(': ')]
        }),
      )
      const event = members.get('event')
      if (event === undefined) continue
      const data = JSON.parse(members.get('data') ?? '{}') as Record<string, unknown>
      yield { event, id: members.get('id') ?? null, data }
    }
  }
}
