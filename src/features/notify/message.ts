import { describeMemberChange } from '../../documents/member-change.ts'
import { count, counted, describeCounts } from '../../documents/format.ts'
import { printable } from '../../base/printable.ts'
import type { ATTENTION, Notification } from './notification.ts'
import type { ReceiverAddress } from './post.ts'

export interface Message {
  /** One or more sentences. */
  readonly text: string
  /** What an operator can do; null if nothing. */
  readonly action: string | null
  /** IDs and counts. */
  readonly facts: readonly (readonly [name: string, value: string])[]
}

/** Describes a notification in plain text. Callers escape it for their format. */
export function describeNotification(notification: Notification): Message {
  switch (notification.kind) {
    case 'run.failed':
    case 'run.cancelled':
      return endedBadly(notification)
    case 'test':
      return {
        text: 'This is a test message of `collab-sync doctor --notify`.',
        action: null,
        facts: [],
      }
    case 'members.changed': {
      const { members, first } = notification
      return {
        text: `The structure of the service's records changed (${counted(members, 'change')}).`,
        action:
          'Check whether your reports use these fields. reporting.observed_members lists all fields.',
        facts: first.map((each) => [each.change, describeMemberChange(each)] as const),
      }
    }
    default:
      if ('sentence' in notification) return openProblem(notification)
      return { text: RESOLVED[notification.kind], action: null, facts: [] }
  }
}

type Attention = Extract<Notification, { sentence: string }>

/** The sentence for each kind of sync.attention that is resolved. */
const RESOLVED: Record<(typeof ATTENTION)[keyof typeof ATTENTION][1], string> = {
  'scopes.recovered': 'No scope fails any more, apart from listings with a held removal.',
  'freshness.recovered':
    'All scopes are checked within FRESHNESS_PROMISE again, apart from those that fail or have a held removal.',
  'held.settled': 'No removal of users is held any more.',
  'rejected.settled': 'No rejected record needs a decision any more.',
  'catalog.settled': 'No catalog import is held any more.',
  'catalog.recovered': 'The source of the catalog can be read again.',
  'worker.recovered': 'All running workers can work again.',
  'worker.back': 'A worker is alive again, or none is needed any more.',
  'nightly.recovered': 'No nightly run is missing or late any more.',
  'credentials.accepted': 'The service accepts COLLAB_API_KEY and COLLAB_AUTH_TOKEN again.',
  'service.recovered': 'The service responds again, and no worker waits for it any more.',
  'refresh.resumed': 'Continuous refresh has resumed.',
  'settings.agree': 'All running workers have the same settings again.',
}

function openProblem({ sentence, words, fix, since, organizations, first }: Attention): Message {
  const named = (first ?? []).map(
    (each) =>
      ['organization', `${JSON.stringify(each.organizationId)}: ${count(each.count)}`] as const,
  )
  const more = organizations - named.length
  return {
    text: words === null ? sentence : `${sentence} ${words}`,
    action: fix,
    facts: [
      ...(since === null ? [] : [['since', since] as const]),
      ...named,
      ...(more > 0 ? [['and', counted(more, 'other organization')] as const] : []),
    ],
  }
}

function endedBadly(run: Extract<Notification, { kind: 'run.failed' | 'run.cancelled' }>): Message {
  const { runId, scopesPlanned, scopesFailed } = run
  const isFailed = run.kind === 'run.failed'
  const retry =
    scopesFailed > 0 ? `, \`collab-sync run --failed-of ${runId}\` retries what failed` : ''
  return {
    text: `${trigger(run.trigger)} ${isFailed ? 'failed' : 'was cancelled'}.`,
    action: isFailed ? `\`collab-sync status ${runId}\` shows why${retry}.` : null,
    facts: [
      ['run', runId],
      ['scopes', `${scopesPlanned} planned: ${describeCounts(run, 'scopes')}`],
    ],
  }
}

function trigger(by: string): string {
  if (by === 'refresh') return 'The continuous refresh of one day'
  return by === 'schedule' ? 'The nightly run' : `A run (${by})`
}

/**
 * The JSON body for a receiver of this shape.
 * - `json`: `{ id, type, timestamp, data: { text, action, … } }`, the structure that Standard Webhooks recommends, with
 *   the notification's own members in `data`;
 * - `slack`: an incoming webhook's `text`, without mark-up;
 * - `teams`: a message with an Adaptive Card, as the Workflows app accepts it.
 */
export function bodyFor(
  shape: ReceiverAddress['shape'],
  notificationId: string,
  notification: Notification,
): string {
  const message = describeNotification(notification)
  switch (shape) {
    case 'json': {
      const { kind, at, ...rest } = notification
      const data = { text: message.text, action: message.action, ...rest }
      return JSON.stringify({ id: notificationId, type: kind, timestamp: at, data })
    }
    case 'slack':
      return JSON.stringify(slackMessage(message))
    case 'teams':
      return JSON.stringify(teamsMessage(message))
  }
}

/** Without `mrkdwn` and `parse`, Slack interprets no mark-up and creates no links; &, < and > must still be escaped. */
function slackMessage(message: Message) {
  const text = linesOf(message)
    .join('\n')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
  return { text, mrkdwn: false, parse: 'none', unfurl_links: false, unfurl_media: false }
}

/** Uses text runs, because Teams would read an ID in a text block as Markdown. */
function teamsMessage(message: Message) {
  const [first, ...rest] = linesOf(message)
  const paragraph = (text: string | undefined, weight: 'Bolder' | 'Default') => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, weight }],
  })
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [paragraph(first, 'Bolder'), ...rest.map((line) => paragraph(line, 'Default'))],
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] }
}

function linesOf({ text, action, facts }: Message): string[] {
  return [
    `collab-sync: ${text}`,
    ...(action === null ? [] : [action]),
    ...facts.map(([name, value]) => `${name}: ${value}`),
  ].map((line) => printable(line))
}
