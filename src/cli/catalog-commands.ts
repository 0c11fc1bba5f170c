import { Option } from 'commander'
import type { Command } from 'commander'
import { define, wholeFromOne } from './define.ts'
import type { ActionOf } from './define.ts'
import * as help from './help.ts'
import { collect } from './scope-options.ts'

/** The command for what there is to sync. */
export function addCatalogCommands(program: Command, actionOf: ActionOf): void {
  const catalog = define(program, 'catalog', help.CATALOG, { summary: 'what there is to sync' })
  const importing = define(catalog, 'import', help.CATALOG_IMPORT)
  addLoadOptions(importing, 'deactivate what the file does not list; its rows stay')
    .argument('<file>', 'NDJSON or CSV, or - for standard input')
    .addHelpText('after', help.CATALOG_IMPORT_AFTER)
    .action(actionOf(async () => (await import('./commands/catalog.ts')).catalogImport))
  const refreshing = define(catalog, 'refresh', help.CATALOG_REFRESH)
  addLoadOptions(
    refreshing,
    'deactivate what the query does not list (default: CATALOG_PRUNE)',
  ).action(actionOf(async () => (await import('./commands/catalog.ts')).catalogRefresh))
  addLineOptions(define(catalog, 'show', help.CATALOG_SHOW), false).action(
    actionOf(async (options: object) =>
      Object.keys(options).every((name) => name === 'json')
        ? (await import('./commands/catalog.ts')).catalogShow
        : (await import('./commands/catalog-lines.ts')).catalogShowLine,
    ),
  )

  addLineOptions(define(catalog, 'add', help.CATALOG_ADD))
    .option('--add', 'also the organization and the document of it, where the catalog lacks them')
    .addHelpText('after', help.CATALOG_ADD_AFTER)
    .action(actionOf(async () => (await import('./commands/catalog-lines.ts')).catalogAdd))
  addLineOptions(define(catalog, 'remove', help.CATALOG_REMOVE)).action(
    actionOf(async () => (await import('./commands/catalog-lines.ts')).catalogRemove),
  )
  define(catalog, 'list', help.CATALOG_LIST)
    .option('--organization <id>', 'its user groups and documents')
    .option('--document <id>', 'its annotations; of one organization')
    .option('--limit <n>', 'how many are listed', wholeFromOne, 50)
    .option('--cursor <cursor>', 'go on from there: the nextCursor of the list before')
    .action(actionOf(async () => (await import('./commands/catalog-lines.ts')).catalogList))
}

function addLoadOptions(command: Command, prune: string): Command {
  return command
    .option('--prune', prune)
    .option(
      '--accept-all',
      'deactivate also more than a tenth at once, rather than hold the import',
    )
    .option('--dry-run', 'show what would come and go, and change nothing')
}

function addLineOptions(command: Command, isNeeded = true): Command {
  return command
    .addOption(
      new Option('--organization <id>', 'the organization; may be repeated')
        .argParser(collect)
        .makeOptionMandatory(isNeeded),
    )
    .option('--document <id>', 'a document of one organization')
    .option('--annotation <id>', 'an annotation of one document')
    .option('--group <id>', 'a user group of the organization; may be repeated', collect)
}
