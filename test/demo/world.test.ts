import { expect, test } from 'vitest'
import { catalogLines, named, places } from '../../src/demo/catalog.ts'
import { addComment, deleteComment, edit, restoreComment } from '../../src/demo/changes.ts'
import { idOf } from '../../src/demo/identifiers.ts'
import type { Noun } from '../../src/demo/identifiers.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { World } from '../../src/demo/world.ts'
import { expectedComments, expectedDeletedComments, expectedUsers } from '../service/expected.ts'

const options = {
  seed: 7,
  organizations: 5,
  documentsPerOrganization: 9,
  annotationsPerDocument: 10,
  commentsPerAnnotation: 5,
  usersPerOrganization: 45,
  groupsPerOrganization: 4,
}
const place = { organizationId: 'org-0', documentId: 'doc-0', annotationId: 'ann-0' }

test('a world and its random changes are the same for the same seed', () => {
  const all = (seed: number, changes: number) => {
    const world = new World({ ...options, seed })
    const kinds = randomChanges(world, { count: 100, seed: changes })
    expect(new Set(kinds).size).toBe(9)
    return JSON.stringify([...expectedComments(world), ...expectedUsers(world)])
  }
  expect(all(7, 1)).toBe(all(7, 1))
  expect(all(7, 1)).not.toBe(all(8, 1))
  expect(all(7, 1)).not.toBe(all(7, 2))
})

test('a world has as many documents and annotations as requested, and a catalog line for each', () => {
  const world = new World(options)
  const documents = [...world.organizationIds()].map((id) => [...world.documentIds(id)].length)
  expect(Math.max(...documents)).toBeGreaterThan(2 * Math.min(...documents))
  expect(world.totals()).toEqual({ organizations: 5, documents: 45, annotations: 450 })
  const lines = [...catalogLines(world)]
  expect(lines).toHaveLength(5 + 5 * 4 + 45 + 450)
  expect(named(lines[0]!)).toEqual({ organizationId: 'org-0', organizationName: 'Name of org-0' })
})

test('a world contains what a sync must handle', () => {
  const world = new World(options)
  const comments = [...expectedComments(world)]
  const users = [...expectedUsers(world)]
  const lengths = [...places(world)].map((each) => world.comments(each)?.length ?? 0)
  const texts = comments.map(({ comment }) => comment.commentText).join('\n')
  const coded = comments.find(({ comment }) => comment.commentText?.includes('a < b && b >'))
  const voice = comments.find(({ comment }) => comment.type === 'voice')
  const ids = JSON.stringify([...catalogLines(world)])
  expect(lengths).toContain(0)
  expect(Math.max(...lengths)).toBeGreaterThan(15)
  expect(comments.some((row) => row.commentId === Number.MAX_SAFE_INTEGER)).toBe(true)
  expect(voice).toBeDefined()
  expect(voice?.comment).not.toHaveProperty('commentText')
  expect(comments.some(({ comment }) => comment.reactions && comment.status !== 'added')).toBe(true)
  expect(coded?.comment.commentHtml).toContain('a &lt; b &amp;&amp; b &gt;')
  for (const script of ['Latin', 'Cyrillic', 'Arabic', 'Devanagari', 'Han', 'Hangul'])
    expect(texts, script).toMatch(new RegExp(`\\p{Script=${script}}`, 'u'))
  expect(texts).toMatch(/\p{Emoji_Presentation}/u)
  expect(users.some((row) => row.listed && row.email === null)).toBe(true)
  expect(users.some((row) => row.listed && row.name === null)).toBe(true)
  expect(users.some((row) => row.userId.startsWith('former-') && !row.listed)).toBe(true)
  expect(users.some((row) => row.userId.startsWith('guest-') && !row.listed)).toBe(true)
  for (const sign of ["'", '\\"', '/', ' ', '%', '批', 'م', '№', '😀'])
    expect(ids.includes(sign), sign).toBe(true)
})

test('plain names and more fields change no text, and no other field', () => {
  const plain = new World({ ...options, names: 'plain', moreFields: true })
  const [lines, comments] = [[...catalogLines(plain)], [...expectedComments(plain)]]
  expect(JSON.stringify(lines)).toMatch(/^[\w",:{}[\]-]+$/)
  expect(new Set(lines.map((line) => JSON.stringify(line))).size).toBe(lines.length)
  const texts = (rows: typeof comments) => rows.map(({ comment }) => comment.commentText)
  expect(texts(comments)).toEqual(texts([...expectedComments(new World(options))]))
  for (const field of ['mentions', 'reactions', 'attachments', 'readBy', 'isDraft'])
    expect(
      comments.some(({ comment }) => comment[field] !== undefined),
      field,
    ).toBe(true)
  const ids = new Set(plain.organizationIds())
  const internal = comments.map(({ comment }) => comment.from?.['organizationId'] as string)
  expect(internal.some((id) => ids.has(id))).toBe(false)
})

test('each id belongs to one index, and other ids are unknown', () => {
  const nouns: Noun[] = ['organization', 'document', 'annotation', 'group', 'user', 'guest']
  for (const noun of nouns)
    expect(new Set(Array.from({ length: 200 }, (_, index) => idOf(noun, index))).size).toBe(200)
  const world = new World(options)
  expect(world.comments(place)).toBeDefined()
  for (const bad of ['', 'org', 'org-00', 'org-5', 'org--1', 'org-99999999999999999999', '0']) {
    expect(world.users(bad), bad).toBeUndefined()
    expect(world.comments({ ...place, organizationId: bad }), bad).toBeUndefined()
  }
  expect(world.comments({ ...place, documentId: 'doc-9999' })).toBeUndefined()
  expect(world.comments({ ...place, annotationId: 'ann-9999' })).toBeUndefined()
  expect(world.groupMembers('org-0', 'group-8')).toBeUndefined()
})

test('a comment is edited, deleted and restored with a later lastUpdated, and its id never used again', () => {
  const world = new World(options)
  const [old, ...others] = world.comments(place) ?? []
  const id = old!.commentId
  const shown = () => world.comments(place)?.find(({ commentId }) => commentId === id)
  edit(world, place, id, { text: 'a < b', status: 'updated' })
  const edited = shown()!
  expect(edited).toMatchObject({ commentHtml: '<p>a &lt; b</p>', status: 'updated' })
  expect(edited.lastUpdated > old!.lastUpdated).toBe(true)
  deleteComment(world, place, id)
  expect(world.comments(place)).toEqual(others)
  expect([...expectedDeletedComments(world)]).toEqual([
    { ...place, commentId: id, comment: edited },
  ])
  restoreComment(world, place, id)
  expect({ ...shown(), lastUpdated: '' }).toEqual({ ...edited, lastUpdated: '' })
  expect(shown()!.lastUpdated > edited.lastUpdated).toBe(true)
  const added = addComment(world, place, { text: 'one' })
  deleteComment(world, place, added)
  expect(addComment(world, place, { text: 'two' })).not.toBe(added)
})

test('a removed user leaves documents and groups too', () => {
  const world = new World(options)
  const [member] = world.documentUsers('org-0', 'doc-0') ?? []
  world.putGroupMembers('org-0', 'group-0', [member!.userId])
  world.dropUser('org-0', member!.userId)
  expect(world.documentUsers('org-0', 'doc-0')).not.toContainEqual(member)
  expect(world.groupMembers('org-0', 'group-0')).toEqual([])
  const expected = () => [...expectedUsers(world)].find(({ userId }) => userId === member!.userId)
  expect(expected()).toMatchObject({ listed: false, removed: true })
  world.putUser('org-0', member!)
  expect(expected()).toMatchObject({ listed: true, removed: false })
})
