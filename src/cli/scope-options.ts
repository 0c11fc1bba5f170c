import { Command, InvalidArgumentError } from 'commander'
import { UsageError } from '../errors.ts'
import { parseScope } from '../scope.ts'
import type { Scope } from '../scope.ts'

/** The scope of `run` and `enqueue` as commander reads it. */
export interface ScopeOptions {
  organization?: string[]
  document?: string
  annotation?: string
  comment?: number[]
  user?: string[]
  group?: string[]
  operations?: string
}

/** Gives a command the options that narrow a run (contract.md, "Commands"). */
export function addScopeOptions(command: Command): Command {
  return command
    .option('--organization <id>', 'only this organization; may be repeated', collect)
    .option('--document <id>', 'only this document, of one organization')
    .option('--annotation <id>', 'only this annotation, of one document')
    .option('--comment <n>', 'only this comment, of one annotation; may be repeated', collectNumber)
    .option('--user <id>', 'only this user; may be repeated', collect)
    .option('--group <id>', 'only this user group; may be repeated', collect)
    .option('--operations <list>', 'users,comments or one of them (default: SYNC_OPERATIONS)')
}

/**
 * The scope that the options say.
 * @throws UsageError naming the option
 */
export function scopeOf(options: ScopeOptions): Scope {
  const members = {
    organizationIds: options.organization,
    documentId: options.document,
    annotationId: options.annotation,
    commentIds: options.comment,
    userIds: options.user,
    organizationUserGroupIds: options.group,
    operations: options.operations?.split(',').map((operation) => operation.trim()),
  }
  const given = Object.entries(members).filter(([, value]) => value !== undefined)
  try {
    return parseScope(Object.fromEntries(given))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(inOptions(error.message))
  }
}

const OPTION_OF_MEMBER: Record<string, string> = {
  organizationUserGroupIds: '--group',
  organizationIds: '--organization',
  documentId: '--document',
  annotationId: '--annotation',
  commentIds: '--comment',
  userIds: '--user',
  operations: '--operations',
}

/** The same message with a person's words: options instead of the members that a program sends. */
function inOptions(message: string): string {
  const members = new RegExp(`\\b(${Object.keys(OPTION_OF_MEMBER).join('|')})\\b(\\.\\d+)?`, 'g')
  return message
    .replace(/^scope: /, '')
    .replace(members, (_, member: string) => OPTION_OF_MEMBER[member] ?? member)
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}

function collectNumber(value: string, before: number[] = []): number[] {
  const number = Number(value)
  if (!/^-?\d+$/.test(value) || !Number.isSafeInteger(number)) {
    throw new InvalidArgumentError('It must be a whole number within 2^53 - 1.')
  }
  return [...before, number]
}
