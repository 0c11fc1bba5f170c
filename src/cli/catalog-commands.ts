import { Option } from 'commander'
import type { Command } from 'commander'
import { CURSOR_OPTION, define, wholeFromOne } from './define.ts'
import type { ActionOf } from './define.ts'
import { collect } from './scope-options.ts'

/** Adds the commands of the catalog. */
export function addCatalogCommands(program: Command, actionOf: ActionOf): void {
  const catalog = define(program, 'catalog')
  const importing = define(catalog, 'import')
  addLoadOptions(importing, 'deactivate scopes that the file does not list; their rows stay')
    .argument('<file>', 'NDJSON or CSV, or - for standard input')
    .action(actionOf(async () => (await import('./commands/catalog.ts')).catalogImport))
  const refreshing = define(catalog, 'refresh')
  addLoadOptions(
    refreshing,
    'deactivate scopes that the query does not list (default: CATALOG_PRUNE)',
  ).action(actionOf(async () => (await import('./commands/catalog.ts')).catalogRefresh))
  addPageOptions(addLineOptions(define(catalog, 'show'), false)).action(
    actionOf(async (options: object) =>
      Object.keys(options).every((name) => ['json', 'limit', 'cursor'].includes(name))
        ? (await import('./commands/catalog.ts')).catalogShow
        : (await import('./commands/catalog-lines.ts')).catalogShowLine,
    ),
  )

  addLineOptions(define(catalog, 'add'))
    .option('--name <text>', 'its name; "" removes the name')
    .option('--add', 'also add its organization and document if the catalog lacks them')
    .action(actionOf(async () => (await import('./commands/catalog-lines.ts')).catalogAdd))
  addLineOptions(define(catalog, 'remove')).action(
    actionOf(async () => (await import('./commands/catalog-lines.ts')).catalogRemove),
  )
  addPageOptions(define(catalog, 'list'))
    .option('--organization <id>', 'list its user groups and documents')
    .option('--document <id>', 'list its annotations; needs --organization')
    .action(actionOf(async () => (await import('./commands/catalog-lines.ts')).catalogList))
}

function addLoadOptions(command: Command, prune: string): Command {
  return command
    .option('--prune', prune)
    .option('--accept-all', 'never hold the import, however many scopes --prune deactivates')
    .option('--dry-run', 'show what would change, write nothing')
}

function addPageOptions(command: Command): Command {
  return command
    .option('--limit <n>', 'maximum number of entries', wholeFromOne, 50)
    .option(...CURSOR_OPTION)
}

function addLineOptions(command: Command, isNeeded = true): Command {
  return command
    .addOption(
      new Option('--organization <id>', 'the organization; repeatable')
        .argParser(collect)
        .makeOptionMandatory(isNeeded),
    )
    .option('--document <id>', 'a document of one organization')
    .option('--annotation <id>', 'an annotation of one document')
    .option('--group <id>', 'a user group of the organization; repeatable', collect)
}
