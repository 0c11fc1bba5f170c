import { printable } from '../printable.ts'
import { describeHappening } from './message.ts'
import type { Message } from './message.ts'
import type { Happening } from './happening.ts'
import type { ReceiverAddress } from './receiver.ts'

/**
 * The JSON text that a receiver of a shape takes.
 * - `json`: `{ id, type, timestamp, data: { text, action, … } }`, the structure that Standard Webhooks recommends, with
 *   the happening's own members in `data`;
 * - `slack`: an incoming webhook's `text`, without mark-up;
 * - `teams`: a message with an Adaptive Card, as the Workflows app takes it.
 */
export function bodyFor(
  shape: ReceiverAddress['shape'],
  notificationId: string,
  happening: Happening,
): string {
  const message = describeHappening(happening)
  switch (shape) {
    case 'json': {
      const { kind, at, ...rest } = happening
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
