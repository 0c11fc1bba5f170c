import type { Client } from './pool.ts'
import { TABLES } from './scopes.ts'
import type { BatchScope, ScopeKind } from './scopes.ts'
import { sql } from './sql.ts'

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

/** Stores what is known of scopes' answers now. @param at when that changed */
export async function storeAnswers(
  client: Client,
  answers: readonly KnownAnswer[],
  at: Date,
): Promise<void> {
  const first = answers.flatMap(({ facts, ...answer }) => (facts ? [{ ...answer, facts }] : []))
  await storeFirstAnswers(client, first, at)
  for (const kind of Object.keys(TABLES) as ScopeKind[]) {
    const those = answers.filter(({ scope, facts }) => scope.kind === kind && facts === undefined)
    if (those.length === 0) continue
    const values =
      kind === 'annotation'
        ? [...answerColumns(those), those.map(({ changed }) => changed), at]
        : answerColumns(those)
    await client.query(sql(`scopes/store-answer-${TABLES[kind]}`), values)
  }
}

async function storeFirstAnswers(
  client: Client,
  answers: readonly (KnownAnswer & { readonly facts: ThreadFacts })[],
  at: Date,
): Promise<void> {
  if (answers.length === 0) return
  await client.query(sql('scopes/store-first-answer-annotations'), [
    ...answerColumns(answers),
    answers.map(({ facts }) => facts.firstCommentAt),
    answers.map(({ facts }) => facts.lastCommentAt),
    answers.map(({ facts }) => facts.firstAnswerAt),
    answers.map(({ facts }) => arrayText(facts.authors)),
    at,
  ])
}

function answerColumns(answers: readonly KnownAnswer[]): unknown[] {
  return [
    answers.map(({ scope }) => scope.key),
    answers.map(({ recordCount }) => recordCount),
    answers.map(({ bodyDigest }) => bodyDigest),
    answers.map(({ contentDigest }) => contentDigest),
  ]
}

/** An array as PostgreSQL reads it from a text: arrays of different lengths make no array of arrays. */
function arrayText(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}
