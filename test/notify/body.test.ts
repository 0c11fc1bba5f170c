import { describe, expect, test } from 'vitest'
import { bodyFor, describeNotification } from '../../src/features/notify/message.ts'
import type { Notification } from '../../src/features/notify/notification.ts'

const RUN = '0193a6c5-0000-7000-8000-000000000001'
const ID = '6f9d2c1e-1111-4222-8333-444455556666'
const AT = '2026-11-21T02:10:00.000Z'

const FAILED = {
  kind: 'run.failed',
  at: AT,
  runId: RUN,
  trigger: 'schedule',
  scopesPlanned: 10,
  scopesSucceeded: 0,
  scopesFailed: 10,
  scopesHeld: 0,
  scopesSkipped: 0,
  request: 'everything in the catalog',
  requestedBy: null,
  cancelledBy: null,
} as const satisfies Notification

const FAILING = {
  kind: 'scopes.failing',
  at: AT,
  count: 12,
  organizations: 7,
  first: [
    { organizationId: '<!channel> & *acme*', count: 6 },
    { organizationId: '[click](https://evil.example)', count: 1 },
  ],
  since: '2026-11-21T02:10:00.123456+00:00',
  latest: '2026-11-21T02:10:00.123456+00:00',
  sentence: '12 scopes failed at the last check, in 7 organizations.',
  fix: '`collab-sync run --failed-of 0193a6c5` retries the failed scopes.',
  path: `/runs/${RUN}`,
  words: null,
} as const satisfies Notification

const SHOWS = `\`collab-sync status ${RUN}\` shows why`

test.each<[Notification, text: string, action: string | null]>([
  [
    FAILED,
    'The nightly run failed.',
    `${SHOWS}, \`collab-sync run --failed-of ${RUN}\` retries what failed.`,
  ],
  [
    { ...FAILED, scopesFailed: 0, trigger: 'refresh' },
    'The continuous refresh of one day failed.',
    `${SHOWS}.`,
  ],
  [
    {
      ...FAILED,
      kind: 'run.cancelled',
      trigger: 'http',
      request: 'organization acme',
      requestedBy: 'ann',
      cancelledBy: 'bob',
    },
    'A run of organization acme, requested by ann, was cancelled by bob.',
    null,
  ],
  [
    { ...FAILED, kind: 'run.cancelled', cancelledBy: 'bob' },
    'The nightly run was cancelled by bob.',
    null,
  ],
  [{ kind: 'scopes.recovered', at: AT }, 'No scope fails any more.', null],
  [
    { kind: 'freshness.recovered', at: AT, exceptions: ['failing', 'held'] },
    'All scopes are checked within FRESHNESS_PROMISE again, apart from scopes that fail and listings with a held removal.',
    null,
  ],
  [
    { ...FAILING, kind: 'worker.blocked', words: 'READONLY.' },
    `${FAILING.sentence} READONLY.`,
    FAILING.fix,
  ],
  [{ kind: 'worker.back', at: AT }, 'A worker is alive again, or none is needed any more.', null],
  [
    { kind: 'members.changed', at: AT, members: 2, first: [] },
    "The structure of the service's records changed (2 changes).",
    'Check whether your reports use these fields. reporting.observed_members lists all fields.',
  ],
])('notification %# says what happened, and what to do about it', (notification, text, action) => {
  expect(describeNotification(notification)).toMatchObject({ text, action })
})

test('the JSON has id, type and time as Standard Webhooks recommends, and every fact', () => {
  const { kind, at, ...facts } = FAILING
  expect(JSON.parse(bodyFor('json', ID, FAILING))).toEqual({
    id: ID,
    type: kind,
    timestamp: at,
    data: {
      text: FAILING.sentence,
      action: FAILING.fix,
      ...facts,
      since: '2026-11-21T02:10:00.123Z',
      latest: '2026-11-21T02:10:00.123Z',
    },
  })
  expect(describeNotification(FAILING).facts).toEqual([
    ['since', '2026-11-21 02:10:00Z'],
    ['organization', '"<!channel> & *acme*": 6'],
    ['organization', '"[click](https://evil.example)": 1'],
    ['and', '5 other organizations'],
  ])
})

describe('the link to a page of serve', () => {
  const PUBLIC = 'https://sync.example/base'
  const bodies = (notification: Notification, publicUrl?: string) => ({
    json: JSON.parse(bodyFor('json', ID, notification, publicUrl)).data.url,
    slack: JSON.parse(bodyFor('slack', ID, notification, publicUrl))
      .text.split('\n')
      .at(-1),
    teams: JSON.parse(bodyFor('teams', ID, notification, publicUrl)).attachments[0].content.actions,
  })

  test.each<[Notification, path: string]>([
    [FAILED, `/runs/${RUN}`],
    [FAILING, `/runs/${RUN}`],
    [{ ...FAILING, kind: 'held.waiting', path: '/held' }, '/held'],
    [{ kind: 'scopes.recovered', at: AT }, '/'],
    [{ kind: 'members.changed', at: AT, members: 2, first: [] }, '/'],
    [{ kind: 'test', at: AT }, '/notifications'],
  ])('of notification %# is %s', (notification, path) => {
    const url = `${PUBLIC}${path}`
    expect(bodies(notification, PUBLIC)).toEqual({
      json: url,
      slack: `<${url}>`,
      teams: [{ type: 'Action.OpenUrl', title: 'Open', url }],
    })
  })

  test('is absent without HTTP_PUBLIC_URL, and the command is there in both cases', () => {
    expect(bodies(FAILED)).toEqual({
      json: undefined,
      slack: expect.stringMatching(/^scopes: /),
      teams: undefined,
    })
    for (const publicUrl of [undefined, PUBLIC])
      expect(bodyFor('slack', ID, FAILED, publicUrl)).toContain(`collab-sync status ${RUN}`)
  })
})

describe('ids of the service that look like mark-up', () => {
  test('are plain text in Slack', () => {
    const { text, ...rest } = JSON.parse(bodyFor('slack', ID, FAILING))
    expect(text).toContain(
      'organization: "&lt;!channel&gt; &amp; *acme*": 6\norganization: "[click](https://evil.example)": 1',
    )
    expect(text).not.toMatch(/[<>]/)
    expect(rest).toMatchObject({ mrkdwn: false, parse: 'none', unfurl_links: false })
  })

  test('turn no order of letters and begin no line, in either', () => {
    const steering = 'a\u202eb\u2066c\u2028d\u009be'
    const notification = { ...FAILING, first: [{ organizationId: steering, count: 1 }] }
    for (const shape of ['slack', 'teams'] as const) {
      const body = JSON.parse(bodyFor(shape, ID, notification)) as object
      const texts = JSON.stringify(body).replaceAll('\\\\u', '\\u')
      expect(texts).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u2028\u2029\u0080-\u009f]/)
      expect(texts).toContain('a\\u202eb\\u2066c\\u2028d\\u009be')
    }
  })

  test('are text runs in Teams, in which nothing is mark-up', () => {
    const message = JSON.parse(bodyFor('teams', ID, FAILING))
    expect(message.type).toBe('message')
    const [{ contentType, content }] = message.attachments
    expect(contentType).toBe('application/vnd.microsoft.card.adaptive')
    const paragraphs: { type: string; inlines: { type: string; text: string }[] }[] = content.body
    expect(paragraphs.map(({ type }) => type)).toEqual(paragraphs.map(() => 'RichTextBlock'))
    expect(paragraphs.flatMap(({ inlines }) => inlines.map(({ type }) => type))).toEqual(
      paragraphs.map(() => 'TextRun'),
    )
    expect(paragraphs.at(-3)?.inlines[0]?.text).toContain('"<!channel> & *acme*"')
  })
})
