import { describeMemberChange } from '../../schemas/member-change.ts'
import { count, counted, describeCounts, duration, time } from '../../schemas/format.ts'
import type { ATTENTION, ReceiverAddress } from '../../schemas/notification-type.ts'
import { printable } from '../../base/printable.ts'
import type { FinishedRun, Notification } from './notification.ts'

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
    case 'run.finished':
    case 'night.ended':
      return finished(notification)
    case 'test':
      return {
        text: 'This is a test message. It reports no problem.',
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
      return { text: resolvedText(notification), action: null, facts: [] }
  }
}

type Attention = Extract<Notification, { sentence: string }>

type Resolved = Extract<Notification, { kind: keyof typeof RESOLVED }>

/** The sentence for each kind of sync.attention that is resolved. */
const RESOLVED: Record<(typeof ATTENTION)[keyof typeof ATTENTION][1], string> = {
  'scopes.recovered': 'No scope fails any more.',
  'freshness.recovered': 'All scopes are checked within FRESHNESS_PROMISE again.',
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
  'lock.released': 'No statement of collab-sync waits for a lock any more.',
  'settings.agree': 'All running workers have the same settings again.',
}

const EXCEPTIONS = { failing: 'scopes that fail', held: 'listings with a held removal' } as const

function resolvedText({ kind, exceptions = [] }: Resolved): string {
  if (exceptions.length === 0) return RESOLVED[kind]
  const apart = exceptions.map((each) => EXCEPTIONS[each]).join(' and ')
  return `${RESOLVED[kind].slice(0, -1)}, apart from ${apart}.`
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
      ...(since === null ? [] : [['since', time(new Date(since))] as const]),
      ...named,
      ...(more > 0 ? [['and', counted(more, 'other organization')] as const] : []),
    ],
  }
}

type RunEnd = Extract<Notification, { runId: string }>

function finished(run: FinishedRun): Message {
  const { status, runId, completeUpTo } = run
  return {
    text: `${subjectOf(run)} finished: ${status}.`,
    action: `\`collab-sync status ${runId}\` shows the run.`,
    facts: [
      ...scopesOf(run),
      ['duration', duration(run.durationMs)],
      ...(completeUpTo === null ? [] : [['complete up to', time(completeUpTo)] as const]),
    ],
  }
}

function scopesOf(run: RunEnd): Message['facts'] {
  const scopes = `${run.scopesPlanned} planned: ${describeCounts(run, 'scopes')}`
  return [
    ['run', run.runId],
    ['scopes', scopes],
  ]
}

function endedBadly(run: Exclude<RunEnd, FinishedRun>): Message {
  const { runId, scopesFailed } = run
  const isFailed = run.kind === 'run.failed'
  const retry =
    scopesFailed > 0 ? `, \`collab-sync run --failed-of ${runId}\` retries what failed` : ''
  return {
    text: `${subjectOf(run)} ${isFailed ? 'failed' : 'was cancelled'}${run.cancelledBy === null ? '' : ` by ${run.cancelledBy}`}.`,
    action: isFailed ? `\`collab-sync status ${runId}\` shows why${retry}.` : null,
    facts: scopesOf(run),
  }
}

function subjectOf({ trigger, request, requestedBy }: RunEnd): string {
  if (trigger === 'refresh') return 'The continuous refresh of one day'
  if (trigger === 'schedule') return 'The nightly run'
  const by = requestedBy === null ? '' : `, requested by ${requestedBy},`
  return request === null ? `A run (${trigger})` : `A run of ${request}${by}`
}

/** The page of `serve` that shows a notification; the overview, if no other page does. */
function pageOf(notification: Notification): string {
  if ('path' in notification) return notification.path
  if (notification.kind === 'test') return '/notifications'
  return 'runId' in notification ? `/runs/${notification.runId}` : '/'
}

/**
 * The JSON body for a receiver of this shape.
 * - `json`: `{ id, type, timestamp, data: { text, action, url, … } }`, the structure that Standard Webhooks recommends, with
 *   the notification's own members in `data`;
 * - `slack`: an incoming webhook's `text`, without mark-up but a link;
 * - `teams`: a message with an Adaptive Card, as the Workflows app accepts it.
 * @param publicUrl HTTP_PUBLIC_URL; without it, there is no link
 */
export function bodyFor(
  shape: Exclude<ReceiverAddress['shape'], 'heartbeat'>,
  notificationId: string,
  notification: Notification,
  publicUrl?: string,
): string {
  const message = describeNotification(notification)
  const url = publicUrl === undefined ? null : publicUrl + pageOf(notification)
  switch (shape) {
    case 'json': {
      const { kind, at, ...rest } = notification
      const { text, action } = message
      const data = { text, action, ...(url && { url }), ...rest, ...timesOf(notification) }
      return JSON.stringify({ id: notificationId, type: kind, timestamp: at, data })
    }
    case 'slack':
      return JSON.stringify(slackMessage(message, url))
    case 'teams':
      return JSON.stringify(teamsMessage(message, url))
  }
}

/** The times without the microseconds of PostgreSQL. */
function timesOf(notification: Notification) {
  if (!('sentence' in notification)) return {}
  const [since, latest] = [notification.since, notification.latest].map(
    (at) => at && new Date(at).toISOString(),
  )
  return { since, latest }
}

/** Without `mrkdwn` and `parse`, Slack interprets no mark-up and creates no links but those in <>; &, < and > must still be escaped. */
function slackMessage(message: Message, url: string | null) {
  const text = linesOf(message)
    .join('\n')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
  const link = url === null ? '' : `\n<${url.replaceAll('&', '&amp;')}>`
  return {
    text: text + link,
    mrkdwn: false,
    parse: 'none',
    unfurl_links: false,
    unfurl_media: false,
  }
}

/** Uses text runs, because Teams would read an ID in a text block as Markdown. */
function teamsMessage(message: Message, url: string | null) {
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
    ...(url && { actions: [{ type: 'Action.OpenUrl', title: 'Open', url }] }),
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
