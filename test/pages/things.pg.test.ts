import { expect, test } from 'vitest'
import { deleteComment, edit } from '../../src/demo/changes.ts'
import { thingPath } from '../../src/http/pages/things/thing-link.tsx'
import { openLive } from '../helpers/live.ts'
import { askPages, formOf, wordsOf } from './open-pages.ts'
import type { ServiceResponse } from './open-pages.ts'

// Two runs: between them a comment is edited, one is deleted and a user leaves; then one thread fails.
const live = await openLive('none')
const { world } = live
const [organizationId = ''] = world.organizationIds()
const [documentId = ''] = world.documentIds(organizationId)
const [annotationId = '', other = ''] = world.annotationIds(organizationId, documentId)
const place = { organizationId, documentId, annotationId }
const failing = { ...place, annotationId: other }
const [first, second] = world.comments(place) ?? []
const edited: number = first?.commentId ?? 0
const deleted: number = second?.commentId ?? 0
const left: string = world.users(organizationId)?.at(-1)?.userId ?? ''
edit(world, place, edited, { text: 'The old words stay' })
await live.importCatalog()
await live.run()
edit(world, place, edited, { text: 'The new words stay' })
deleteComment(world, place, deleted)
world.dropUser(organizationId, left)
live.standIn.setFaults([{ kind: 'forbidden', match: failing }])
await live.run()
live.standIn.setFaults([])
const pages = await askPages(await live.openApp())
const { page: expectPage, words } = pages

test('links lead from the catalog down to a comment and its author, and back up', async () => {
  const { organizationId, documentId, annotationId } = place
  let page = await expectPage('/organizations')
  for (const [words, title] of [
    [organizationId, `Organization ${organizationId}`],
    [documentId, `Document ${documentId}`],
    [annotationId, `Annotation ${annotationId}`],
    [organizationId, `Organization ${organizationId}`],
  ] as const) {
    page = await expectPage(linkOf(page, words))
    expect(page.text).toContain(`<h1>${title}</h1>`)
    expect(wordsOf(page)).toContain(' here ')
  }
  const author = live.world.comments(place)?.find(({ commentId }) => commentId === edited)?.from
  page = await expectPage(thingPath({ ...place, commentId: edited }))
  page = await expectPage(linkOf(page, author?.userId ?? ''))
  expect(page.text).toContain('<h1>User ')
  expect(wordsOf(page)).toContain('Member since')
  expect(wordsOf(page)).toContain(
    `collab-sync erase user --organization ${organizationId} --reason TEXT -- ${author?.userId}`,
  )
  expect(linksOf(page)).toContainEqual([
    'The new words stay',
    thingPath({ ...place, commentId: edited }),
  ])
  expect(linksOf(page)).toContainEqual([documentId, thingPath({ organizationId, documentId })])
})

test('a comment shows its words before and after a change, and the run that noticed it', async () => {
  const page = await expectPage(thingPath({ ...place, commentId: edited }))
  expect(page.text).toMatch(/<del><span class="unseen"> \[removed: <\/span>old/)
  expect(page.text).toMatch(/<ins><span class="unseen"> \[added: <\/span>new/)
  expect(page.text).toMatch(/the text changed\..*href="\/runs\/[0-9a-f-]{36}"/)
  expect(page.text).toContain('<summary>Record as stored</summary>')
})

test('things that are gone say why', async () => {
  const comment = await words(thingPath({ ...place, commentId: deleted }))
  expect(comment).toMatch(/gone.*The service returned null for its ID/)
  const { organizationId } = place
  const user = await words(thingPath({ organizationId, userId: left }))
  expect(user).toMatch(/gone.*no longer contained the user/)
})

test('a user group shows its users', async () => {
  const { organizationId } = place
  const [organizationUserGroupId = ''] = live.world.groupIds(organizationId)
  const page = await expectPage(thingPath({ organizationId, organizationUserGroupId }))
  expect(page.text).toContain(`<h1>User group ${organizationUserGroupId}</h1>`)
  expect(linksOf(page).some(([, path]) => path.includes('userId='))).toBe(true)
})

test('the overview leads to the organization that fails, and its failing scopes are retried', async () => {
  const overview = await expectPage('/')
  const page = await expectPage(linkOf(overview, place.organizationId))
  const fields = formOf(page, 'sync', 'failing')
  expect(fields).toEqual({ organizationId: place.organizationId, failing: 'true' })
  expect(await pages.act('sync', fields)).toMatch(/^\/runs\/[0-9a-f-]{36}\?done=run-started$/)
})

test('a search with one exact result opens its page; others are listed', async () => {
  const { annotationId } = place
  const search = (q: string) => pages.get(`/search?${new URLSearchParams({ q, seconds: '60' })}`)
  const one = await search(`${Object.values(place).join('/')}/${edited}`)
  expect(one).toMatchObject({
    status: 302,
    headers: { location: thingPath({ ...place, commentId: edited }) },
  })
  const highest = await search(String(Number.MAX_SAFE_INTEGER))
  expect(highest.headers['location']).toMatch(/commentId=9007199254740991$/)
  const several = await search(annotationId.slice(0, -1))
  expect(several.status).toBe(200)
  expect(linksOf(several)).toContainEqual([annotationId, thingPath(place)])
  expect(several.text).toMatch(
    new RegExp(`action="/search".* name="q" [^>]*value="${annotationId.slice(0, -1)}"`),
  )
  expect(wordsOf(await search('x-none'))).toContain('Nothing was found.')
  const blocker = await live.database.pool.connect()
  try {
    await blocker.query('begin; lock table collab_store.comments in access exclusive mode')
    const ended = await pages.get('/search?q=9999')
    expect(wordsOf(ended)).toContain('The search ended at its limit of 0.4 seconds')
    expect(linksOf(ended)).toContainEqual([
      'Search for up to 30 seconds',
      '/search?q=9999&seconds=30',
    ])
  } finally {
    blocker.release(true)
  }
})

test('IDs that name nothing are answered in a sentence', async () => {
  const { organizationId } = place
  const wrong = [
    [thingPath({ organizationId: 'none' }), 404, 'Nothing is stored under these IDs'],
    [thingPath({ ...place, commentId: 999_999 }), 404, 'Nothing is stored under these IDs'],
    ['/thing', 400, 'organizationId is wrong'],
    [thingPath({ organizationId, annotationId: 'a' }), 400, 'the ids do not name a thing'],
    [`${thingPath(place)}&commentId=x`, 400, 'commentId'],
    [`${thingPath(place)}&lifeCursor=x`, 400, 'ursor'],
  ] as const
  for (const [path, status, sentence] of wrong) {
    const page = await pages.get(path)
    expect(page.status, path).toBe(status)
    expect(wordsOf(page), path).toContain(sentence)
  }
})

/** The words and the address of each link. */
function linksOf(page: ServiceResponse): [words: string, path: string][] {
  const links = page.text.matchAll(/<a [^>]*?href="([^"]*)"[^>]*>(.*?)<\/a>/g)
  return [...links].map(([, path = '', words = '']) => [
    words.replaceAll(/<[^>]*>/g, ''),
    path.replaceAll('&amp;', '&'),
  ])
}

function linkOf(page: ServiceResponse, words: string): string {
  const [, path] = linksOf(page).find(([of]) => of === words) ?? []
  if (path === undefined) throw new Error(`No link says ${words}: ${wordsOf(page)}`)
  return path
}
