import { describeLacking } from './catalog-trouble.ts'
import { describeMemberChange } from '../documents/member-change.ts'
import { counted, roughAge } from '../format.ts'
import { printable } from '../printable.ts'
import type { Notification } from './notification.ts'
import type { ReceiverAddress } from './post.ts'

/** What a person reads of a notification. */
export interface Message {
  /** One sentence. */
  readonly text: string
  /** What to do about it; null where there is nothing to do. */
  readonly action: string | null
  /** What else is known, as name and value: ids and counts. */
  readonly facts: readonly (readonly [name: string, value: string])[]
}

/** Puts a notification into words; plain text, to be escaped for where it is shown. */
export function describeNotification(notification: Notification): Message {
  switch (notification.kind) {
    case 'run.failed':
    case 'run.partial':
    case 'run.cancelled':
      return endedBadly(notification)
    case 'run.recovered':
      return {
        text: `${trigger(notification.trigger)} stored what ${notification.problems === 1 ? 'an earlier run' : `${notification.problems} earlier runs`} failed to fetch.`,
        action: null,
        facts: [['run', notification.runId]],
      }
    case 'held.waiting':
      return held(notification)
    case 'held.settled':
      return { text: 'No listing of users is held any more.', action: null, facts: [] }
    case 'nightly.missed':
      return {
        text: `The nightly run that was due at ${notification.dueAt} has not started.`,
        action:
          'Is a worker alive? `collab-sync status` tells; `collab-sync run` syncs everything now.',
        facts: [['schedule', `${notification.cron} (${notification.timeZone})`]],
      }
    case 'nightly.late':
      return {
        text: `The nightly run has been under way for ${roughAge(notification.runningS * 1000)}; usually it takes ${roughAge(notification.usualS * 1000)}.`,
        action: `\`collab-sync status ${notification.runId}\` shows how far it is and what it waits for.`,
        facts: [['run', notification.runId]],
      }
    case 'nightly.recovered':
      return {
        text: 'The nightly run has succeeded again.',
        action: null,
        facts: [['run', notification.runId]],
      }
    case 'freshness.passed':
      return {
        text: `Some of what is stored was not checked well within the promised ${roughAge(notification.promiseS * 1000)}.`,
        action: '`collab-sync status` shows the last runs; `collab-sync run` syncs everything now.',
        facts: [
          ['oldest check', notification.oldestCheck ?? 'none'],
          ['overdue', countedOrSome(notification.overdue)],
          ['failing', countedOrSome(notification.failing)],
          ['never checked', counted(notification.neverChecked, 'scope')],
        ],
      }
    case 'freshness.recovered':
      return {
        text: `Everything that is stored was checked within the promised ${roughAge(notification.promiseS * 1000)} again.`,
        action: null,
        facts: [['oldest check', notification.oldestCheck ?? 'none']],
      }
    case 'catalog.held':
      return {
        text: `An import of the catalog is held. ${describeLacking(notification.source, notification)}`,
        action: `Nothing was changed, and runs go on with the catalog as it is. If it is right: \`collab-sync accept --catalog ${notification.importId}\`. If not: \`collab-sync refuse --catalog ${notification.importId}\`.`,
        facts: [['import', String(notification.importId)]],
      }
    case 'catalog.failed':
      return {
        text: 'The catalog could not be read anew: runs go on with it as it was.',
        action: '`collab-sync catalog refresh` tries again.',
        facts: [['problem', notification.problem ?? 'unknown']],
      }
    case 'catalog.settled':
      return { text: 'No import of the catalog is held any more.', action: null, facts: [] }
    case 'catalog.recovered':
      return { text: 'The source of the catalog can be read again.', action: null, facts: [] }
    case 'worker.blocked': {
      const { workers, workerId, since } = notification
      return {
        text: `${counted(workers, 'worker')} cannot work: ${notification.problem}`,
        action: '`collab-sync status` lists them; `collab-sync doctor` checks the connections.',
        facts: [
          ['worker', workerId],
          ['since', since],
        ],
      }
    }
    case 'worker.recovered':
      return { text: 'All running workers can work again.', action: null, facts: [] }
    case 'members.changed': {
      const { members, first } = notification
      return {
        text: `The service sends its records otherwise than before: ${counted(members, 'change')}.`,
        action: 'Are reports concerned? reporting.observed_members has all members.',
        facts: first.map((each) => [each.change, describeMemberChange(each)] as const),
      }
    }
  }
}

function endedBadly(run: Notification & { kind: 'run.failed' | 'run.partial' | 'run.cancelled' }) {
  const { runId, scopesPlanned, scopesSucceeded, scopesFailed, scopesHeld, scopesSkipped } = run
  const { recordsRejected = 0 } = run
  const what = {
    'run.failed': 'failed',
    'run.partial':
      'ended with some scopes failed or held, or records rejected; everything else is in',
    'run.cancelled': 'was cancelled',
  }[run.kind]
  const retry =
    scopesFailed > 0 ? `, \`collab-sync run --failed-of ${runId}\` tries again what failed` : ''
  return {
    text: `${trigger(run.trigger)} ${what}.`,
    action:
      run.kind === 'run.cancelled'
        ? null
        : `\`collab-sync status ${runId}\` shows why${retry}${scopesHeld > 0 ? `, \`collab-sync accept ${runId}\` applies what is held` : ''}${recordsRejected > 0 ? `, \`collab-sync rejected --run ${runId}\` shows what was rejected` : ''}.`,
    facts: [
      ['run', runId],
      [
        'scopes',
        `${scopesPlanned} planned, ${scopesSucceeded} succeeded, ${scopesFailed} failed, ${scopesHeld} held, ${scopesSkipped} skipped`,
      ],
      ...(recordsRejected > 0 ? [['records rejected', String(recordsRejected)] as const] : []),
    ],
  } satisfies Message
}

function held({ runId, listings, usersMissing, first }: Notification & { kind: 'held.waiting' }) {
  const places = first.map((each) => {
    const ids = [each.organizationId, each.documentId, each.organizationUserGroupId]
    const names = ids.filter((id) => id !== undefined).map((id) => JSON.stringify(id))
    return [
      each.kind,
      `${names.join(' / ')}: ${counted(each.usersMissing, 'user')} missing`,
    ] as const
  })
  return {
    text: `${counted(listings, 'listing')} of users ${listings === 1 ? 'has' : 'have'} lost so many at once (${usersMissing}) that nobody was removed.`,
    action: `Look with \`collab-sync status ${runId}\`; if it is right, \`collab-sync accept ${runId}\` removes them.`,
    facts: [['run', runId], ...places],
  } satisfies Message
}

function trigger(by: string): string {
  if (by === 'refresh') return 'The refresh of a day'
  return by === 'schedule' ? 'The nightly run' : `A run (${by})`
}

/**
 * The JSON text that a receiver of a shape takes.
 * - `json`: `{ id, type, timestamp, data: { text, action, … } }`, the structure that Standard Webhooks recommends, with
 *   the notification's own members in `data`;
 * - `slack`: an incoming webhook's `text`, without mark-up;
 * - `teams`: a message with an Adaptive Card, as the Workflows app takes it.
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

/** With `mrkdwn` and `parse` off nothing in it is mark-up or becomes a link; &, < and > begin what is left of that. */
function slackMessage(message: Message) {
  const text = linesOf(message)
    .join('\n')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
  return { text, mrkdwn: false, parse: 'none', unfurl_links: false, unfurl_media: false }
}

/** Of text runs, since a text block would take Markdown in an id for mark-up. */
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

/** @param scopes left out by a version that did not count them */
function countedOrSome(scopes: number | undefined): string {
  return scopes === undefined ? 'some scopes' : counted(scopes, 'scope')
}
