import { findNodeAtLocation, parseTree } from 'jsonc-parser'
import type { Node } from 'jsonc-parser'
import type { Answer } from '../collab-api/answer.ts'
import { redactText } from '../privacy/redact.ts'

/** A record, or a member of one, that cannot be stored as received. */
export interface Reject {
  /** Names the member, and the column that was set to null if the rest of the record was stored. */
  readonly reason: string
  /** The record's JSON text as received. */
  readonly record: string
}

/** The records of one answer, with a way back to their exact text. */
export interface Received {
  readonly items: readonly unknown[]
  /** The text of one item as received, numbers not rounded. */
  textOf(index: number): string
}

/** Leaves out of a record what may not be stored; null where everything may be. */
export type Redact = ((item: unknown) => unknown) | null

/** What an answer with data holds, for the record readers: nothing behind them sees what may not be stored. */
export function receivedOf(
  answer: Extract<Answer, { status: 'data' }>,
  redact: Redact = null,
): Received {
  let nodes: Node[] | undefined
  const textOf = (index: number) => {
    nodes ??= childrenAt(answer.text, ['result', 'data'])
    return textOfNode(answer.text, nodes[index])
  }
  if (redact === null) return { items: answer.data, textOf }
  return {
    items: answer.data.map(redact),
    textOf: (index) => redactText(textOf(index), redact),
  }
}

/** A record that was received before, from its own JSON text, under the privacy of today. */
export function receivedBefore(text: string, redact: Redact = null): Received {
  const item: unknown = JSON.parse(text)
  if (redact === null) return { items: [item], textOf: () => text }
  return { items: [redact(item)], textOf: () => redactText(text, redact) }
}

/** The text of one member of an object's text, as received. */
export function memberText(objectText: string, name: string): string {
  const root = parseTree(objectText)
  return textOfNode(objectText, root && findNodeAtLocation(root, [name]))
}

/** PostgreSQL's text and jsonb can hold neither a NUL nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

function childrenAt(text: string, path: string[]): Node[] {
  const root = parseTree(text)
  return (root && findNodeAtLocation(root, path))?.children ?? []
}

function textOfNode(text: string, node: Node | undefined): string {
  return node === undefined ? '' : text.slice(node.offset, node.offset + node.length)
}
