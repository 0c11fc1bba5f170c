import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node'
import type { Log } from '../log.ts'

type Result = Parameters<Parameters<SpanExporter['export']>[1]>[0]

/**
 * Sends spans without the messages of their errors, which may hold what the service said or a row of ours: the log has
 * them. A collector that is away is reported once, and once more when it is back; spans that cannot be sent are dropped.
 */
export class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter
  readonly #log: Log
  #isAway = false

  constructor(exporter: SpanExporter, log: Log) {
    this.#exporter = exporter
    this.#log = log
  }

  export(spans: ReadableSpan[], done: (result: Result) => void): void {
    this.#exporter.export(spans.map(withoutMessages), (result) => {
      this.#report(result)
      done({ code: SENT })
    })
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown()
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush?.() ?? Promise.resolve()
  }

  #report({ code, error }: Result): void {
    const isAway = code !== SENT
    if (isAway === this.#isAway) return
    this.#isAway = isAway
    if (isAway)
      this.#log.warn(
        { reason: error?.message },
        'the collector of traces cannot be reached: traces are dropped until it can',
      )
    else this.#log.info('the collector of traces is there again')
  }
}

/** `ExportResultCode.SUCCESS` of OpenTelemetry. */
const SENT = 0

function withoutMessages(span: ReadableSpan): ReadableSpan {
  const { code } = span.status
  return Object.create(span, {
    status: { value: { code } },
    events: {
      value: span.events.map((event) => ({
        ...event,
        attributes: { 'exception.type': event.attributes?.['exception.type'] },
      })),
    },
  }) as ReadableSpan
}
