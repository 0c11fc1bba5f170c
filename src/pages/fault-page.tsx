import type { FastifyReply } from 'fastify'
import { Sentence } from './elements.tsx'
import { renderPage, sendPage } from './layout.tsx'

/** A request that was not answered as it was asked. */
export interface Fault {
  readonly status: number
  /** The status in words, where nothing better is known. */
  readonly title: string
  /** What went wrong, for a person. */
  readonly sentence: string
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'That cannot be done',
  404: 'Not found',
  409: 'That cannot be done now',
  500: 'Something went wrong',
  503: 'Something is away',
}

/** A whole page that says in a sentence what went wrong. */
export function renderFault({ status, title, sentence }: Fault): string {
  const frame = { title: TITLES[status] ?? title, part: null }
  return renderPage(frame, <FaultCard sentence={sentence} />)
}

/** Answers that there is no such thing. */
export function sendUnknown(reply: FastifyReply, sentence: string): FastifyReply {
  const frame = { title: TITLES[404] as string, part: null }
  return sendPage(reply.code(404), frame, <FaultCard sentence={sentence} />)
}

function FaultCard({ sentence }: { sentence: string }) {
  return (
    <section class="card">
      <p class="lead">
        <Sentence of={sentence} />
      </p>
      <p>
        <a href="/">Overview</a>
      </p>
    </section>
  )
}
