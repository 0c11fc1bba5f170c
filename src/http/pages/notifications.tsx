import type { FastifyInstance, FastifyReply } from 'fastify'
import { readReceivers, sendTests } from '../../features/notify/receivers.ts'
import type { ReceiverState, Tested } from '../../features/notify/receivers.ts'
import type { Columns } from '../../schemas/columns.ts'
import { counted } from '../../schemas/format.ts'
import { ForOperators, Submit } from './elements.tsx'
import { sendPage } from './layout.tsx'
import { READ } from './page-context.ts'
import type { PageContext } from './page-context.ts'
import { Table } from './tables.tsx'

type Row = ReceiverState & { readonly test?: Tested | undefined }

const COLUMNS: Columns<Row> = [
  ['receiver', ({ name }) => name, 'id'],
  ['gets', messagesOf],
  ['accepted the last one', ({ sentAt }) => sentAt ?? 'none yet', 'nowrap'],
  [
    'not accepted in the last week',
    ({ problem, givenUp, waiting }) =>
      problem && {
        value: {
          tone: 'warn',
          text: `${counted(givenUp, 'message')} given up, ${waiting} pending`,
        },
        note: problem,
      },
  ],
]

const TESTED: Columns<Row>[number] = [
  'test message',
  ({ test }) => {
    if (test === undefined || test.accepted === null)
      return 'not sent: a ping would report the end of a nightly run'
    return test.accepted
      ? { tone: 'good', text: `accepted (${test.result})` }
      : { tone: 'bad', text: `not accepted (${test.result})` }
  },
]

function messagesOf({ shape, events }: ReceiverState) {
  if (shape === 'heartbeat') return 'a ping at the end of each nightly run'
  return events === undefined
    ? 'open problems and their end, and runs that failed or were cancelled'
    : events.join(', ')
}

/** `/notifications`: the receivers of NOTIFY_URL, and a test message to each. */
export function notificationRoutes(
  app: FastifyInstance,
  { database, settings }: PageContext,
): void {
  const { notifyUrls = [] } = settings
  const sendReceivers = async (reply: FastifyReply, tested?: readonly Tested[]) => {
    const receivers = await readReceivers(database, notifyUrls)
    return sendPage(
      reply,
      { title: 'Notifications', part: null },
      <section class="card">
        {receivers.length === 0 ? (
          <p>
            <code>NOTIFY_URL</code> is not set for this server: it sends no messages.
          </p>
        ) : (
          <>
            <p class="soft">
              This server sends messages to these receivers of <code>NOTIFY_URL</code>. Paths of
              addresses are secret and not shown. Workers can have other receivers.
            </p>
            <Table
              caption="Receivers, in the order of NOTIFY_URL"
              columns={tested === undefined ? COLUMNS : [...COLUMNS, TESTED]}
              rows={receivers.map((each, index) => ({ ...each, test: tested?.[index] }))}
            />
            <ForOperators>
              <form class="row" method="post" action="/notifications/test">
                <Submit words="Send a test message to each" kind="primary" />
              </form>
            </ForOperators>
          </>
        )}
      </section>,
    )
  }

  app.get('/notifications', READ, async (_request, reply) => sendReceivers(reply))

  // Without a redirect, so that the page shows the responses of the receivers.
  app.post('/notifications/test', { config: { right: 'operate' } }, async (_request, reply) =>
    sendReceivers(reply, await sendTests(settings)),
  )
}
