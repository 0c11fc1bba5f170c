import { beforeEach, expect, test } from 'vitest'
import type { App } from '../../src/worker/app.ts'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import { addComment } from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { onApp } from './on-app.ts'

const WORLD = {
  organizations: 2,
  documentsPerOrganization: 3,
  annotationsPerDocument: 3,
  commentsPerAnnotation: 2,
  usersPerOrganization: 3,
  groupsPerOrganization: 1,
}
const PERSON = {
  userId: 'wilhelmine-1',
  name: 'Wilhelmine Ürgens',
  email: 'W.Zzyzx@unlisted.example',
}
const HERE = 'org-0'
const WHOLE = { isComplete: true, notes: [] }

let live: Live
let app: App
let collabSync: CollabSync

beforeEach(async () => {
  live = await openLoaded('none', { world: WORLD })
  live.world.putUser(HERE, PERSON)
  app = await live.openApp()
  collabSync = onApp(app)
})

test('each kind is found by its whole id and by a part of it in any case', async () => {
  const { run_id: runId } = await live.run()
  const ids = { organizationId: 'ÄCME 100%', documentId: 'Plan_Ö', annotationId: 'Änn/Übersicht' }
  const group = { organizationId: 'ÄCME 100%', organizationUserGroupId: 'Prüfer' }
  await collabSync.addToCatalog({ lines: [ids, group], add: true })
  const things = {
    organization: ['ÄCME 100%', 'cme 100%', { organizationId: ids.organizationId }],
    document: ['Plan_Ö', 'LAN_ö', { organizationId: ids.organizationId, documentId: 'Plan_Ö' }],
    annotation: ['Änn/Übersicht', 'NN/ü', ids],
    userGroup: ['Prüfer', 'RÜF', group],
    user: ['wilhelmine-1', 'NE-1', { organizationId: HERE, userId: PERSON.userId }],
  } as const
  for (const [kind, [whole, part, expected]] of Object.entries(things)) {
    const name = kind === 'user' ? PERSON.name : null
    const found = { kind, ids: expected, runId: null, name }
    expect(await search(whole)).toEqual({ ...WHOLE, items: [{ ...found, isExact: true }] })
    expect(await search(part)).toEqual({ ...WHOLE, items: [{ ...found, isExact: false }] })
  }
  const run = { kind: 'run', ids: null, runId, name: null }
  expect(await search(` ${runId.toUpperCase()}\n`)).toEqual({
    ...WHOLE,
    items: [{ ...run, isExact: true }],
  })
  expect((await search(runId.slice(0, 8))).items).toContainEqual({ ...run, isExact: false })
})

test('a user is found by the name and address of now and before, whole or in part', async () => {
  await live.run()
  live.world.putUser(HERE, { ...PERSON, name: 'Mina Neu', email: 'mina@new.example' })
  await live.run()
  for (const [text, isExact] of [
    ['Mina neu', true],
    ['A NEU', false],
    ['MINA@new.example', true],
    ['@new.', false],
    ['wilhelmine ürgens', true],
    ['INE ÜRG', false],
    ['w.zzyzx@UNLISTED.example', true],
    ['zzyzx', false],
  ] as const) {
    const { items } = await search(text)
    expect([text, ...items]).toEqual([text, foundPerson({ name: 'Mina Neu', isExact })])
  }
})

test('names from the catalog are listed beside the ids, and organizations are found by them', async () => {
  const [organizationId = ''] = live.world.organizationIds()
  const [documentId = ''] = live.world.documentIds(organizationId)
  const [groupId = ''] = live.world.groupIds(organizationId)
  await collabSync.addToCatalog({
    lines: [
      { organizationId, documentId, organizationName: 'Zirkon AG', documentName: 'Plan' },
      { organizationId, organizationUserGroupId: groupId, organizationUserGroupName: 'Ops' },
    ],
  })
  const { items } = await collabSync.search({ q: 'zIRK', seconds: 60 })
  expect(items).toMatchObject([{ ids: { organizationId }, name: 'Zirkon AG' }])
  expect(
    (await collabSync.listOrganizations()).items.filter(({ name }) => name !== null),
  ).toHaveLength(1)
  const beneath = await collabSync.listCatalog({ organizationId })
  const names = {
    organizationName: 'Zirkon AG',
    documentName: null,
    organizationUserGroupName: null,
  }
  expect(beneath.items).toContainEqual(
    expect.objectContaining({ ...names, documentId, documentName: 'Plan' }),
  )
  expect(beneath.items).toContainEqual(
    expect.objectContaining({
      ...names,
      organizationUserGroupId: groupId,
      organizationUserGroupName: 'Ops',
    }),
  )
  const [annotation] = (await collabSync.listCatalog({ organizationId, documentId })).items
  expect(annotation).toMatchObject({ ...names, documentName: 'Plan' })
  const [first] = (await collabSync.listCatalog()).items
  expect(first?.organizationName).toBe(
    first?.organizationId === organizationId ? 'Zirkon AG' : null,
  )
})

test('exact ones come first, and what is left out is told', async () => {
  const ids = Array.from({ length: 25 }, (_, index) => `a-room-${index}`)
  const lines = [...ids, 'room'].map((documentId) => ({ organizationId: HERE, documentId }))
  await collabSync.addToCatalog({ lines: [...lines, { organizationId: 'room-1' }], add: true })
  const { items, notes } = await search('room')
  expect(items).toHaveLength(21)
  expect(items.map(({ isExact }) => isExact).indexOf(false)).toBe(1)
  expect(items[0]).toMatchObject({ kind: 'document', ids: { documentId: 'room' }, isExact: true })
  expect(items[1]).toMatchObject({ kind: 'organization', ids: { organizationId: 'room-1' } })
  expect(notes).toEqual(['More than 20 documents match; 20 are shown.'])
  expect(await search('ro')).toEqual({
    items: [],
    isComplete: true,
    notes: ['A text of fewer than three characters finds only complete IDs, names and addresses.'],
  })
})

test('a comment is found by its annotation or path and its number, and from four digits by its number alone', async () => {
  const [first, second] = [...places(live.world)] as [Place, Place]
  for (const place of [first, second]) {
    addComment(live.world, place, { text: 'the first words' })
    const [some] = (live.world.comments(place) ?? []).slice(-1)
    if (some === undefined) throw new Error('The annotation has no comment.')
    const numbered = [42, 4711].map((commentId) => ({ ...some, commentId }))
    live.world.putThread(place, { live: numbered, deleted: [] })
  }
  await live.run()
  const { organizationId, documentId, annotationId } = first
  const ids = { ...first, commentId: 42 }
  for (const text of [
    `${organizationId} / ${documentId} / ${annotationId} / 42`,
    `${organizationId}/${documentId}/${annotationId}/42`,
  ])
    expect(await search(text)).toEqual({
      ...WHOLE,
      items: [{ kind: 'comment', ids, runId: null, name: 'the first words', isExact: true }],
    })
  expect((await search(`${annotationId}/42`)).items).toContainEqual(
    expect.objectContaining({ ids, isExact: true }),
  )
  expect((await search(`${annotationId}/43`)).items).toEqual([])
  expect((await search(`other/${documentId}/${annotationId}/42`)).items).toEqual([])
  // Comments with the number are exact, also if several annotations have one; an ID that contains it is not.
  await collabSync.addToCatalog({ lines: [{ organizationId, documentId: 'x-4711' }], add: true })
  const { items } = await search('4711')
  expect(items.map(({ kind, isExact }) => [kind, isExact])).toEqual([
    ['comment', true],
    ['comment', true],
    ['document', false],
  ])
  expect(items.slice(0, 2).map((each) => each.ids)).toEqual(
    expect.arrayContaining([first, second].map((place) => ({ ...place, commentId: 4711 }))),
  )
  const short = await search('42')
  expect(short.items).toEqual([])
  expect(short.notes).toContain('Comments are searched only by numbers with at least four digits.')
  expect((await search('99999999999999999999')).items).toEqual([])
})

test('a comment is found by each ID that can be stored, and no number finds a comment with another ID', async () => {
  const [place] = [...places(live.world)] as [Place]
  const [some] = live.world.comments(place) ?? []
  if (some === undefined) throw new Error('The annotation has no comment.')
  const max = Number.MAX_SAFE_INTEGER
  const commentIds = [1_000_000_000_000_001, max - 1, max, -max, -4711]
  const numbered = commentIds.map((commentId) => ({ ...some, commentId }))
  live.world.putThread(place, { live: numbered, deleted: [] })
  await live.run()
  for (const commentId of commentIds)
    for (const q of [`${commentId}`, `${place.annotationId}/${commentId}`])
      expect([q, await search(q)]).toMatchObject([
        q,
        { items: [{ kind: 'comment', ids: { ...place, commentId }, isExact: true }], notes: [] },
      ])
  for (const q of [
    max + 1,
    `${max + 1}`.replace(/2$/, '3'),
    -max - 1,
    '1000000000000000.9',
    '1e15',
  ])
    expect([q, (await search(`${q}`)).items]).toEqual([q, []])
})

test('PRIVACY_EMAIL decides whether addresses are searched', async () => {
  const leaver = { userId: 'leaver', email: 'Leaver@unlisted.example' }
  live.world.putUser(HERE, leaver)
  await live.run()
  live.world.dropUser(HERE, leaver.userId)
  const settings = { PRIVACY_EMAIL: 'hash' }
  await live.define(settings)
  await live.run({ settings })
  const author = 'Comments of authors without a user ID are not found by an address.'
  const hashed = onApp(await live.openApp(settings))
  const whole = 'Only complete e-mail addresses are found, because PRIVACY_EMAIL is hash.'
  expect(await hashed.search({ q: 'w.zzyzx@UNLISTED.example', seconds: 60 })).toEqual({
    items: [foundPerson({ isExact: true })],
    isComplete: true,
    notes: [whole, author],
  })
  // The row of a user who left keeps the address that it had.
  expect((await hashed.search({ q: 'leaver@unlisted.example', seconds: 60 })).items).toMatchObject([
    { ids: { userId: 'leaver' }, isExact: true },
  ])
  expect(await hashed.search({ q: '@unlisted', seconds: 60 })).toMatchObject({
    items: [],
    notes: [whole, author],
  })
  await live.define({ PRIVACY_EMAIL: 'drop' })
  const dropping = onApp(await live.openApp({ PRIVACY_EMAIL: 'drop' }))
  for (const q of ['w.zzyzx@unlisted.example', 'leaver@unlisted.example', 'leaver@unl'])
    expect(await dropping.search({ q, seconds: 60 })).toEqual({
      items: [],
      isComplete: true,
      notes: ['E-mail addresses are not searched, because PRIVACY_EMAIL is drop.', author],
    })
  await live.define({})
})

test('no text does harm, and a part of LIKE is a character', async () => {
  await live.run()
  for (const q of [
    '%%%',
    '___',
    "'; drop table x; --",
    '\\\\\\',
    `/`.repeat(2000),
    '\n\n/42',
    '-1000',
  ])
    expect([q, (await search(q)).items]).toEqual([q, []])
  for (const q of ['', 'a\0b', 'a\ud800', 'x'.repeat(2001)])
    await expect(search(q)).rejects.toThrow(/^q must/)
})

test('a search that takes too long names the kinds that it did not finish, and finds complete IDs of all', async () => {
  const place = { organizationId: HERE, documentId: '4711' }
  await collabSync.addToCatalog({ lines: [place] })
  await collabSync.addToCatalog({ lines: [{ ...place, annotationId: '4711' }] })
  const found = [
    expect.objectContaining({ kind: 'document', isExact: true }),
    expect.objectContaining({ kind: 'annotation', isExact: true }),
  ]
  for (const [locked, notes] of [
    [
      'comments',
      ['The search ended at its limit of 2 seconds before it had searched all comments.'],
    ],
    [
      'user_versions',
      [
        'The search ended at its limit of 2 seconds before it had searched all organizations, documents, user groups, users, annotations, comments.',
        'Complete IDs were searched, except those of comments.',
      ],
    ],
  ] as const) {
    const blocker = await live.database.pool.connect()
    try {
      await blocker.query(`begin; lock table collab_store.${locked} in access exclusive mode`)
      const searched = await search('4711', 2)
      expect(searched).toEqual({ items: found, isComplete: false, notes })
    } finally {
      blocker.release(true)
    }
  }
  expect(await search('4711')).toEqual({ ...WHOLE, items: found })
})

async function search(q: string, seconds = 60) {
  return collabSync.search({ q, seconds })
}

function foundPerson(members: { name?: string | null; isExact: boolean }) {
  const ids = { organizationId: HERE, userId: PERSON.userId }
  return { kind: 'user', ids, runId: null, name: PERSON.name, ...members }
}
