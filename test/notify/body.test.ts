import { describe, expect, test } from 'vitest'
import { bodyFor, describeNotification } from '../../src/notify/message.ts'
import type { Notification } from '../../src/notify/notification.ts'

const RUN = '0193a6c5-0000-7000-8000-000000000001'
const ID = '6f9d2c1e-1111-4222-8333-444455556666'
const AT = '2026-11-21T02:10:00.000Z'

const PARTIAL: Notification = {
  kind: 'run.partial',
  at: AT,
  runId: RUN,
  trigger: 'schedule',
  scopesPlanned: 10,
  scopesSucceeded: 7,
  scopesFailed: 2,
  scopesHeld: 1,
  scopesSkipped: 0,
}

const HELD: Notification = {
  kind: 'held.waiting',
  at: AT,
  runId: RUN,
  listings: 1,
  usersMissing: 9,
  first: [
    {
      heldId: 1,
      kind: 'document',
      organizationId: '<!channel> & *acme*',
      documentId: '[click](https://evil.example)',
      usersMissing: 9,
    },
  ],
}

const ALL: Notification[] = [
  PARTIAL,
  { ...PARTIAL, recordsRejected: 3 },
  { ...PARTIAL, kind: 'run.failed', scopesHeld: 0 },
  { ...PARTIAL, kind: 'run.cancelled', trigger: 'http', scopesFailed: 0, scopesHeld: 0 },
  { kind: 'run.recovered', runId: RUN, trigger: 'schedule', at: AT, problems: 2 },
  HELD,
  { kind: 'held.settled', at: AT },
  { kind: 'nightly.missed', at: AT, dueAt: AT, cron: '0 2 * * *', timeZone: 'UTC' },
  { kind: 'nightly.late', runId: RUN, at: AT, dueAt: AT, runningS: 7300, usualS: 95 },
  { kind: 'nightly.recovered', runId: RUN, at: AT },
  {
    kind: 'freshness.passed',
    at: AT,
    oldestCheck: AT,
    promiseS: 93_600,
    neverChecked: 0,
  },
  {
    kind: 'freshness.recovered',
    at: AT,
    oldestCheck: AT,
    promiseS: 93_600,
    neverChecked: 3,
  },
  {
    kind: 'catalog.held',
    at: AT,
    importId: 7,
    source: 'catalog.ndjson',
    scopes: 90,
    lacking: 84,
    organizations: 2,
    firstOrganizationId: '<!channel> & *acme*',
  },
  {
    kind: 'catalog.failed',
    at: AT,
    importId: 8,
    source: 'CATALOG_SQL',
    problem: 'CATALOG_SQL failed: *no*.',
  },
  { kind: 'catalog.settled', at: AT },
  { kind: 'catalog.recovered', at: AT },
  {
    kind: 'worker.blocked',
    at: AT,
    workers: 2,
    workerId: 'host:7:abc',
    since: AT,
    problem: 'The queue refuses jobs: READONLY.',
  },
  { kind: 'worker.recovered', at: AT },
  {
    kind: 'members.changed',
    at: AT,
    members: 2,
    first: [
      { object: 'comment', member: '<!channel> *a*', change: 'new', types: ['object'] },
      { object: 'user', member: 'data.age', change: 'type', types: ['string'] },
    ],
  },
]

test('each notification is told in one sentence, and what is bad says what to do', () => {
  expect(
    ALL.map((notification) => {
      const { text, action } = describeNotification(notification)
      return [notification.kind, text, action]
    }),
  ).toMatchInlineSnapshot(`
    [
      [
        "run.partial",
        "The nightly run ended with some scopes failed or held, or records rejected; everything else is in.",
        "\`collab-sync status 0193a6c5-0000-7000-8000-000000000001\` shows why, \`collab-sync run --failed-of 0193a6c5-0000-7000-8000-000000000001\` tries again what failed, \`collab-sync accept 0193a6c5-0000-7000-8000-000000000001\` applies what is held.",
      ],
      [
        "run.partial",
        "The nightly run ended with some scopes failed or held, or records rejected; everything else is in.",
        "\`collab-sync status 0193a6c5-0000-7000-8000-000000000001\` shows why, \`collab-sync run --failed-of 0193a6c5-0000-7000-8000-000000000001\` tries again what failed, \`collab-sync accept 0193a6c5-0000-7000-8000-000000000001\` applies what is held, \`collab-sync rejected --run 0193a6c5-0000-7000-8000-000000000001\` shows what was rejected.",
      ],
      [
        "run.failed",
        "The nightly run failed.",
        "\`collab-sync status 0193a6c5-0000-7000-8000-000000000001\` shows why, \`collab-sync run --failed-of 0193a6c5-0000-7000-8000-000000000001\` tries again what failed.",
      ],
      [
        "run.cancelled",
        "A run (http) was cancelled.",
        null,
      ],
      [
        "run.recovered",
        "The nightly run stored what 2 earlier runs failed to fetch.",
        null,
      ],
      [
        "held.waiting",
        "1 listing of users has lost so many at once (9) that nobody was removed.",
        "Look with \`collab-sync status 0193a6c5-0000-7000-8000-000000000001\`; if it is right, \`collab-sync accept 0193a6c5-0000-7000-8000-000000000001\` removes them.",
      ],
      [
        "held.settled",
        "No listing of users is held any more.",
        null,
      ],
      [
        "nightly.missed",
        "The nightly run that was due at 2026-11-21T02:10:00.000Z has not started.",
        "Is a worker alive? \`collab-sync status\` tells; \`collab-sync run\` syncs everything now.",
      ],
      [
        "nightly.late",
        "The nightly run has been under way for 2 h 1 min; usually it takes 1 min.",
        "\`collab-sync status 0193a6c5-0000-7000-8000-000000000001\` shows how far it is and what it waits for.",
      ],
      [
        "nightly.recovered",
        "The nightly run has succeeded again.",
        null,
      ],
      [
        "freshness.passed",
        "Some of what is stored was not checked well within the promised 26 h.",
        "\`collab-sync status\` shows the last runs; \`collab-sync run\` syncs everything now.",
      ],
      [
        "freshness.recovered",
        "Everything that is stored was checked within the promised 26 h again.",
        null,
      ],
      [
        "catalog.held",
        "An import of the catalog is held. Of the 90 scopes that the catalog has, catalog.ndjson lacks 84: more than a tenth of each of 2 organizations, of "<!channel> & *acme*" the most.",
        "Nothing was changed, and runs go on with the catalog as it is. If it is right: \`collab-sync accept --catalog 7\`. If not: \`collab-sync refuse --catalog 7\`.",
      ],
      [
        "catalog.failed",
        "The catalog could not be read anew: runs go on with it as it was.",
        "\`collab-sync catalog refresh\` tries again.",
      ],
      [
        "catalog.settled",
        "No import of the catalog is held any more.",
        null,
      ],
      [
        "catalog.recovered",
        "The source of the catalog can be read again.",
        null,
      ],
      [
        "worker.blocked",
        "2 workers cannot work: The queue refuses jobs: READONLY.",
        "\`collab-sync status\` lists them; \`collab-sync doctor\` checks the connections.",
      ],
      [
        "worker.recovered",
        "All running workers can work again.",
        null,
      ],
      [
        "members.changed",
        "The service sends its records otherwise than before: 2 changes.",
        "Are reports concerned? reporting.observed_members has all members.",
      ],
    ]
  `)
})

test('the JSON has id, type and time as Standard Webhooks recommends, and every fact', () => {
  expect(JSON.parse(bodyFor('json', ID, PARTIAL))).toEqual({
    id: ID,
    type: 'run.partial',
    timestamp: AT,
    data: {
      text: expect.stringMatching(/^The nightly run ended/),
      action: expect.stringContaining(`collab-sync status ${RUN}`),
      runId: RUN,
      trigger: 'schedule',
      scopesPlanned: 10,
      scopesSucceeded: 7,
      scopesFailed: 2,
      scopesHeld: 1,
      scopesSkipped: 0,
    },
  })
})

describe('ids of the service that look like mark-up', () => {
  test('are plain text in Slack', () => {
    const { text, ...rest } = JSON.parse(bodyFor('slack', ID, HELD))
    expect(text).toContain(
      'document: "&lt;!channel&gt; &amp; *acme*" / "[click](https://evil.example)": 9 users missing',
    )
    expect(text).not.toMatch(/[<>]/)
    expect(rest).toMatchObject({ mrkdwn: false, parse: 'none', unfurl_links: false })
  })

  test('turn no order of letters and begin no line, in either', () => {
    const steering = 'a\u202eb\u2066c\u2028d\u009be'
    const [first] = HELD.kind === 'held.waiting' ? HELD.first : []
    const notification = {
      ...HELD,
      first: [{ ...first, organizationId: steering }],
    } as Notification
    for (const shape of ['slack', 'teams'] as const) {
      const body = JSON.parse(bodyFor(shape, ID, notification)) as object
      const texts = JSON.stringify(body).replaceAll('\\\\u', '\\u')
      expect(texts).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u2028\u2029\u0080-\u009f]/)
      expect(texts).toContain('a\\u202eb\\u2066c\\u2028d\\u009be')
    }
  })

  test('are text runs in Teams, in which nothing is mark-up', () => {
    const message = JSON.parse(bodyFor('teams', ID, HELD))
    expect(message.type).toBe('message')
    const [{ contentType, content }] = message.attachments
    expect(contentType).toBe('application/vnd.microsoft.card.adaptive')
    const paragraphs: { type: string; inlines: { type: string; text: string }[] }[] = content.body
    expect(paragraphs.map(({ type }) => type)).toEqual(paragraphs.map(() => 'RichTextBlock'))
    expect(paragraphs.flatMap(({ inlines }) => inlines.map(({ type }) => type))).toEqual(
      paragraphs.map(() => 'TextRun'),
    )
    expect(paragraphs.at(-1)?.inlines[0]?.text).toContain('"<!channel> & *acme*"')
  })
})
