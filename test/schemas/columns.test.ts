import { h } from 'preact'
import { render } from 'preact-render-to-string'
import { describe, expect, test } from 'vitest'
import { textOf } from '../../src/cli/output.ts'
import { table } from '../../src/cli/table.ts'
import {
  ACTION_COLUMNS,
  CAUSE_COLUMNS,
  FAILURE_COLUMNS,
  factsOfPace,
  factsOfSchedule,
  HELD_COLUMNS,
  REJECTED_COLUMNS,
  RUN_CHANGE_COLUMNS,
  RUN_COLUMNS,
  runs,
} from '../../src/schemas/columns.ts'
import type { Columns, Facts, Value } from '../../src/schemas/columns.ts'
import { beneathColumns, FOUND_COLUMNS, WRITTEN_COLUMNS } from '../../src/schemas/thing-columns.ts'
import { Table } from '../../src/http/pages/tables.tsx'
import { Shown } from '../../src/http/pages/values.tsx'
import { unescaped } from '../pages/open-pages.ts'

const RUN = '0aea587c-1ee9-4bfa-93e6-17340c286d49'
const AT = new Date('2026-11-20T02:00:00Z')

const wordsIn = (html: string) =>
  unescaped(html.replaceAll(/<span class="sign".*?<\/span>/g, '').replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/ +/g, ' ')
    .replaceAll(' ,', ',')
    .trim()

describe('a value is the same words for a terminal and in a page', () => {
  const values: Record<string, [value: Value, words: string, html?: string]> = {
    nothing: [null, ''],
    'a text': ['<b> & "c"', '<b> & "c"'],
    'a number': [12_345, '12,345'],
    'a truth': [true, 'yes'],
    'a time': [AT, '2026-11-20 02:00:00Z', '<time datetime="2026-11-20T02:00:00.000Z"'],
    'an age': [{ ago: new Date(Date.now() - 3 * 86_400_000) }, '3 days ago', '<time '],
    'a run': [{ runId: RUN }, '0aea587c', `href="/runs/${RUN}"`],
    runs: [runs([RUN, RUN]), 'runs 0aea587c, 0aea587c', `href="/runs/${RUN}"`],
    'a thing': [
      { ids: { organizationId: 'a', documentId: 'b' } },
      'a / b',
      'href="/thing?organizationId=a&amp;documentId=b"',
    ],
    'a thing with a name': [{ ids: { organizationId: 'a' }, text: 'Acme' }, 'Acme', 'href="/thing'],
    'a state': [{ tone: 'bad', text: 'failing' }, 'failing', 'class="badge bad"'],
    'a count that needs attention': [{ tone: 'warn', count: 1_200 }, '1,200'],
    'a code': [{ code: '0 2 * * *' }, '0 2 * * *', '<code>'],
    'a quote': [{ quote: 'Ship it.' }, 'Ship it.', '<blockquote '],
    'a record': [{ record: '{"a":1}' }, '{"a":1}', '<pre '],
    'a value with a note': [{ value: 'resolved', note: runs([RUN]) }, 'resolved run 0aea587c'],
    'a value without its note': [{ value: 'resolved', note: null }, 'resolved'],
  }

  test.each(Object.entries(values))('%s', (_, [value, words, html = '']) => {
    const page = render(h(Shown, { of: value }))
    expect(textOf(value).replaceAll('\n', ' ')).toBe(words)
    expect(wordsIn(page)).toBe(words)
    expect(page).toContain(html)
  })
})

test('a list has the same columns in the same order for a terminal and in a page', () => {
  const row = { actionId: 1, at: AT, by: 'ann', action: 'run_requested', target: 'everything' }
  const rows = [{ ...row, runId: RUN, reason: 'as agreed' }]
  const text = table(ACTION_COLUMNS, rows)
    .toLowerCase()
    .split(/\s{2,}/)
    .slice(1)
  const page = render(h(Table, { caption: '', columns: ACTION_COLUMNS as never, rows }))
  const cells = [...page.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell]) => cell ?? '')
  expect(cells.map((cell) => wordsIn(cell).toLowerCase())).toEqual(text)
  expect(text).toContain('run requested')
})

describe('each column shows the field that its head names', () => {
  const failed = {
    operation: 'comments',
    httpStatus: 500,
    errorStatus: 'INTERNAL',
    errorMessage: 'Try later.',
    attempts: 4,
  }
  const ids = { organizationId: 'a', documentId: 'b', annotationId: 'c' }
  const lists: Record<string, [columns: Columns<never>, row: object, shown: readonly string[]]> = {
    'a run': [
      RUN_COLUMNS,
      {
        runId: RUN,
        status: 'succeeded',
        stopping: null,
        requestedAt: AT,
        startedAt: AT,
        finishedAt: AT,
        durationMs: 61_000,
        requestedBy: 'ann',
        trigger: 'cli',
        scope: {},
        failing: false,
        retryOf: null,
        scopesSucceeded: 100,
        scopesFailed: 3,
        scopesHeld: 4,
        scopesSkipped: 0,
        calls: 500,
        commentsWritten: 60,
        usersWritten: 7,
        commentsDeleted: 8,
      },
      [
        'run: 0aea587c',
        'status: succeeded (good)',
        'requested: 2026-11-20 02:00:00Z',
        'by: ann',
        'took: 1 min 01 s',
        'scopes: 107',
        'failed: 3 (bad)',
        'held: 4 (warn)',
        'calls: 500',
        'written: 67',
        'deleted: 8',
        'scope: everything in the catalog',
      ],
    ],
    'a held listing': [
      HELD_COLUMNS,
      {
        heldId: 1,
        kind: 'organization',
        organizationId: 'a',
        usersBefore: 9,
        usersReturned: 2,
        usersMissing: 7,
        at: AT,
      },
      [
        'ID: 1',
        'listing: organization a',
        'users: 9',
        'returned: 2',
        'missing: 7',
        'since: 2026-11-20 02:00:00Z',
      ],
    ],
    'a failure': [
      FAILURE_COLUMNS,
      { ...failed, ...ids, at: AT, state: 'resolved', resolvedBy: RUN, resolvedAt: AT },
      [
        'scope: a / b / c',
        'operation: comments',
        'cause: Internal Server Error (HTTP 500 INTERNAL)\nTry later.',
        'attempts: 4',
        'at: 2026-11-20 02:00:00Z',
        'state now: resolved by run 0aea587c at 2026-11-20 02:00:00Z',
      ],
    ],
    'a cause': [
      CAUSE_COLUMNS,
      {
        ...failed,
        scopes: 30,
        organizations: 2,
        failing: 11,
        resolved: 12,
        leftCatalog: 7,
        resolvedBy: [RUN],
        examples: [ids],
      },
      [
        'cause: Internal Server Error (HTTP 500 INTERNAL)\nTry later.',
        'operation: comments',
        'scopes: 30',
        'organizations: 2',
        'attempts: 4',
        'state now: 11 still failing, 12 resolved, 7 left the catalog by run 0aea587c',
        'examples: a / b / c',
      ],
    ],
    'a rejected record': [
      REJECTED_COLUMNS,
      {
        rejectedRecordId: 5,
        ...ids,
        operation: 'comments',
        reason: 'commentId is a string',
        setAsideAt: null,
        setAsideReason: null,
        isField: false,
        record: '{"commentId":"x"}',
        isCut: true,
        runId: RUN,
        at: AT,
      },
      [
        'ID: 5',
        'from: a / b / c\ncomments',
        'reason: commentId is a string\nrecord',
        'as received: {"commentId":"x"}…',
        'run: 0aea587c\n2026-11-20 02:00:00Z',
      ],
    ],
    'a change of a run': [
      RUN_CHANGE_COLUMNS,
      {
        object: 'comment',
        change: 'edited',
        at: AT,
        ...ids,
        commentId: 5,
        userId: null,
        name: 'Hi',
      },
      [
        'changed: Hi',
        'change: edited',
        'kind: comment',
        'in: a / b / c',
        'at: 2026-11-20 02:00:00Z',
      ],
    ],
    'what is found by its whole name': [
      FOUND_COLUMNS,
      {
        kind: 'document',
        ids: { organizationId: 'a', documentId: 'b' },
        name: 'Plan',
        isExact: true,
      },
      ['name: Plan', 'kind: Document', 'ID: b', 'in: a', 'match: exact'],
    ],
    'what is found by a part of its name': [
      FOUND_COLUMNS,
      { kind: 'organization', ids: { organizationId: 'a' }, name: 'Acme', isExact: false },
      ['name: Acme', 'kind: Organization', 'ID: a', 'in: ', 'match: part'],
    ],
    'a member of a document, beside its annotations': [
      beneathColumns('document'),
      {
        kind: 'user',
        ids: { organizationId: 'a', userId: 'u' },
        name: 'Ann',
        state: 'good',
        comments: null,
        checkedAt: null,
        since: AT,
        changedAt: null,
      },
      [
        'name: Ann',
        'kind: User',
        'ID: u',
        'state: good (good)',
        'comments: ',
        'last good check: ',
        'member since: 2026-11-20 02:00:00Z',
      ],
    ],
    'a comment of a user': [
      WRITTEN_COLUMNS,
      { ids: { ...ids, commentId: 5 }, text: null, writtenAt: AT },
      ['comment: comment 5', 'in: a / b / c', 'written: 2026-11-20 02:00:00Z'],
    ],
  }

  test.each(Object.entries(lists))('of %s', (_, [columns, row, shown]) => {
    const cells = columns.map(([head, cell]) => {
      const value: Value = cell(row as never)
      const isToned = typeof value === 'object' && value !== null && 'tone' in value
      return `${head}: ${textOf(value)}${isToned ? ` (${value.tone})` : ''}`
    })
    expect(cells).toEqual(shown)
  })
})

describe('each fact shows the field that its term names', () => {
  const pause = { since: AT, until: new Date('2026-11-20T03:00:00Z'), by: 'bea', reason: 'upkeep' }
  const pace = { callsPerSecond: 2, setAt: AT, setBy: 'ann', lowestRateLimit: 5, pause }
  const schedule = {
    cron: '0 2 * * *',
    removedCron: null,
    timeZone: 'UTC',
    setBy: 'schedule set',
    by: 'ann',
    setAt: AT,
    next: null,
    registered: null,
  } as const
  const removed = { cron: null, removedCron: '0 3 * * *', setBy: 'schedule remove' } as const
  const lists: Record<string, [facts: Facts, shown: readonly string[]]> = {
    'the pace': [
      factsOfPace(pace),
      [
        'calls: paused until 2026-11-20 03:00:00Z',
        'paused by: bea',
        'since: 2026-11-20 02:00:00Z',
        'reason: upkeep',
        'pace: 2 calls a second',
        'set by: ann 2026-11-20 02:00:00Z',
        'SYNC_RATE_LIMIT: 5 calls a second',
      ],
    ],
    'the schedule': [
      factsOfSchedule(schedule),
      [
        'next: never',
        'due: ',
        'cron expression: 0 2 * * *',
        'removed expression: ',
        'time zone: UTC',
        'set by: ann',
        'set: 2026-11-20 02:00:00Z',
      ],
    ],
    'a removed schedule': [
      factsOfSchedule({ ...schedule, ...removed }),
      [
        'next: never',
        'due: ',
        'cron expression: none',
        'removed expression: 0 3 * * *',
        'time zone: UTC',
        'removed by: ann',
        'removed: 2026-11-20 02:00:00Z',
      ],
    ],
  }

  test.each(Object.entries(lists))('of %s', (_, [facts, shown]) => {
    expect(facts.map(([term, value]) => `${term}: ${textOf(value)}`)).toEqual(shown)
  })
})

describe('a run changed', () => {
  const nothing = { organizationUserGroupId: null, commentId: null, userId: null, name: null }
  const of = { ...nothing, organizationId: 'a', documentId: 'b', annotationId: null }
  const first = (change: object) =>
    textOf(RUN_CHANGE_COLUMNS[0]?.[1]({ ...of, change: 'added', at: AT, ...change } as never) ?? '')

  test.each(['user', 'document_user', 'user_group_member'])('a %s, by the user', (object) => {
    expect(first({ object, userId: 'u', name: 'Ann' })).toBe('u (Ann)')
    expect(first({ object, userId: 'u' })).toBe('u')
    expect(first({ object })).toBe('erased user')
  })

  test('a comment without words, by its number', () => {
    expect(first({ object: 'comment', annotationId: 'c', commentId: 5 })).toBe('comment 5')
  })
})
