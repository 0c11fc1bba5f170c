import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const COMMANDS = resolve(import.meta.dirname, '../../src/cli/commands')

test.each(['run', 'worker', 'enqueue'])(
  '%s loads nothing that only a setting asks for before it does',
  (command) => {
    const packages = packagesOf(join(COMMANDS, `${command}.ts`))
    expect(packages).toContain('pg')
    expect(
      [...packages].filter((name) =>
        /^(@opentelemetry|bullmq-otel|prom-client|proper-lockfile|pg-cursor)/.test(name),
      ),
    ).toEqual([])
  },
)

/** Packages that are loaded with a file: what it imports at once, through all of our own files; types are not loaded. */
function packagesOf(file: string): Set<string> {
  const packages = new Set<string>()
  const seen = new Set<string>()
  const visit = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    const imports = readFileSync(path, 'utf8').matchAll(
      /^(?:import|export) (?!type )[^'`;]*?from '([^']+)'/gm,
    )
    for (const [, specifier = ''] of imports) {
      if (specifier.startsWith('.')) visit(join(dirname(path), specifier))
      else packages.add(specifier)
    }
  }
  visit(file)
  return packages
}
