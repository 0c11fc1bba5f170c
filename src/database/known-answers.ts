import type { Client } from './pool.ts'
import type { BatchScope } from './scopes.ts'
import * as scopes from './statements/scopes.ts'

/** What is now known of a scope's answer; digests are null where the next answer must be looked at again. */
export interface KnownAnswer {
  readonly scope: Pick<BatchScope, 'kind' | 'key'>
  readonly recordCount: number
  readonly bodyDigest: Buffer | null
  readonly contentDigest: Buffer | null
  readonly changed: boolean
  /** Of an annotation whose comments are all new; of others PostgreSQL takes them from what is stored. */
  readonly facts?: ThreadFacts
}

/** What reports ask of a thread; times in ISO 8601. */
export interface ThreadFacts {
  readonly firstCommentAt: string | null
  readonly lastCommentAt: string | null
  readonly firstAnswerAt: string | null
  /** User ids, each once, in the order of their bytes. */
  readonly authors: readonly string[]
}

const STORE_LISTING = {
  organization: scopes.storeAnswerOrganizations,
  group: scopes.storeAnswerUserGroups,
  document: scopes.storeAnswerDocuments,
}
const KINDS = ['organization', 'group', 'document', 'annotation'] as const

/** Stores what is known of scopes' answers now. @param at when that changed */
export async function storeAnswers(
  client: Client,
  answers: readonly KnownAnswer[],
  at: Date,
): Promise<void> {
  const first = answers.flatMap(({ facts, ...answer }) => (facts ? [{ ...answer, facts }] : []))
  await storeFirstAnswers(client, first, at)
  for (const kind of KINDS) {
    const those = answers.filter(({ scope, facts }) => scope.kind === kind && facts === undefined)
    if (those.length === 0) continue
    const records = those.map(({ recordCount }) => recordCount)
    if (kind === 'annotation')
      await scopes.storeAnswerAnnotations.run(client, {
        ...answerColumns(those),
        liveComments: records,
        isChanged: those.map(({ changed }) => changed),
        at,
      })
    else await STORE_LISTING[kind].run(client, { ...answerColumns(those), users: records })
  }
}

async function storeFirstAnswers(
  client: Client,
  answers: readonly (KnownAnswer & { readonly facts: ThreadFacts })[],
  at: Date,
): Promise<void> {
  if (answers.length === 0) return
  await scopes.storeFirstAnswerAnnotations.run(client, {
    ...answerColumns(answers),
    liveComments: answers.map(({ recordCount }) => recordCount),
    firstCommentAts: answers.map(({ facts }) => facts.firstCommentAt),
    lastCommentAts: answers.map(({ facts }) => facts.lastCommentAt),
    firstAnswerAts: answers.map(({ facts }) => facts.firstAnswerAt),
    authors: answers.map(({ facts }) => arrayText(facts.authors)),
    at,
  })
}

function answerColumns(answers: readonly KnownAnswer[]) {
  return {
    keys: answers.map(({ scope }) => scope.key),
    bodyDigests: answers.map(({ bodyDigest }) => bodyDigest),
    contentDigests: answers.map(({ contentDigest }) => contentDigest),
  }
}

/** An array as PostgreSQL reads it from a text: arrays of different lengths make no array of arrays. */
function arrayText(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}
