import { describe, expect, test } from 'vitest'
import { catalogLines, named, places } from '../../src/demo/catalog.ts'
import { expectedComments, expectedUsers } from '../service/expected.ts'
import { idOf, indexOf } from '../../src/demo/identifiers.ts'
import type { Noun } from '../../src/demo/identifiers.ts'
import { createWorld } from '../../src/demo/world.ts'

const options = {
  seed: 7,
  organizations: 5,
  documentsPerOrganization: 9,
  annotationsPerDocument: 10,
  commentsPerAnnotation: 5,
  usersPerOrganization: 45,
  groupsPerOrganization: 4,
}

describe('a world', () => {
  test('is the same for the same seed and another for another', () => {
    const all = (seed: number) => {
      const world = createWorld({ ...options, seed })
      return JSON.stringify([
        ...catalogLines(world),
        ...expectedComments(world),
        ...expectedUsers(world),
      ])
    }
    expect(all(7)).toBe(all(7))
    expect(all(7)).not.toBe(all(8))
  })

  test('holds as many documents and annotations as were asked for, dealt out unevenly', () => {
    const world = createWorld(options)
    const documents = [...world.organizationIds()].map((id) => [...world.documentIds(id)].length)
    expect(documents.reduce((sum, count) => sum + count)).toBe(45)
    expect(Math.max(...documents)).toBeGreaterThan(2 * Math.min(...documents))
    expect([...places(world)]).toHaveLength(450)
    expect(world.totals()).toEqual({ organizations: 5, documents: 45, annotations: 450 })
  })

  test('holds every trap of the service that a sync must survive', () => {
    const world = createWorld(options)
    const comments = [...expectedComments(world)]
    const users = [...expectedUsers(world)]
    const listings = [...places(world)].map((place) => world.comments(place)?.length)
    expect(listings).toContain(0)
    expect(Math.max(...listings.map(Number))).toBeGreaterThan(15)
    expect(comments.some((row) => row.commentId === Number.MAX_SAFE_INTEGER)).toBe(true)
    const voice = comments.find((row) => row.comment.type === 'voice')
    expect(voice).toBeDefined()
    expect(voice?.comment).not.toHaveProperty('commentText')
    expect(comments.some((row) => row.comment.reactions !== undefined)).toBe(true)
    expect(comments.some((row) => row.comment.attachments !== undefined)).toBe(true)
    expect(new Set(comments.map((row) => row.comment.status)).size).toBeGreaterThan(2)
    expect(users.some((row) => row.listed && row.email === null)).toBe(true)
    expect(users.some((row) => row.listed && row.name === null)).toBe(true)
    expect(users.some((row) => row.userId.startsWith('former-') && !row.listed)).toBe(true)
    expect(users.some((row) => row.userId.startsWith('guest-') && !row.listed)).toBe(true)
  })

  test('is written in many scripts, with HTML bodies that are escaped', () => {
    const comments = [...expectedComments(createWorld(options))].map((row) => row.comment)
    const text = comments.map((comment) => comment.commentText).join('\n')
    for (const script of [
      'Latin',
      'Cyrillic',
      'Greek',
      'Arabic',
      'Hebrew',
      'Devanagari',
      'Han',
      'Hiragana',
      'Hangul',
    ]) {
      expect(text, script).toMatch(new RegExp(`\\p{Script=${script}}`, 'u'))
    }
    expect(text).toMatch(/\p{Emoji_Presentation}/u)
    const coded = comments.find((comment) => comment.commentText?.includes('a < b && b >'))
    expect(coded?.commentHtml).toContain('a &lt; b &amp;&amp; b &gt;')
  })

  test('has ids with quotes, slashes, spaces, percent signs and other scripts, each leading back', () => {
    const nouns: Noun[] = ['organization', 'document', 'annotation', 'group', 'user', 'guest']
    for (const noun of nouns) {
      for (let index = 0; index < 200; index++) expect(indexOf(noun, idOf(noun, index))).toBe(index)
      const ids = Array.from({ length: 200 }, (_, index) => idOf(noun, index))
      expect(new Set(ids).size).toBe(200)
    }
    const lines = JSON.stringify([...catalogLines(createWorld(options))])
    for (const sign of ["'", '\\"', '/', ' ', '%', '批', 'م', '№', '😀']) {
      expect(lines.includes(sign), sign).toBe(true)
    }
  })

  test('knows nothing of ids that it did not make', () => {
    const world = createWorld(options)
    const good = { organizationId: 'org-0', documentId: 'doc-0', annotationId: 'ann-0' }
    expect(world.comments(good)).toBeDefined()
    for (const bad of ['', 'org', 'org-00', 'org-5', 'org--1', 'org-99999999999999999999', '0']) {
      expect(world.users(bad), bad).toBeUndefined()
      expect(world.comments({ ...good, organizationId: bad }), bad).toBeUndefined()
    }
    expect(world.comments({ ...good, documentId: 'doc-9999' })).toBeUndefined()
    expect(world.comments({ ...good, annotationId: 'ann-9999' })).toBeUndefined()
    expect(world.groupMembers('org-0', 'group-8')).toBeUndefined()
    expect([...world.documentIds('nowhere')]).toEqual([])
  })
})

test('Every line of the catalog comes once, and may have a name for people', () => {
  const lines = [...catalogLines(createWorld(options))]
  expect(lines).toHaveLength(5 + 5 * 4 + 45 + 450)
  expect(named(lines[0]!)).toEqual({ organizationId: 'org-0', organizationName: 'Name of org-0' })
})
