import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { OPERATION_NAMES, OPERATIONS } from '../../src/base/operations.ts'

const document = readFileSync(new URL('../../docs/SERVICE.md', import.meta.url), 'utf8')

test.each(OPERATION_NAMES)(
  'docs/SERVICE.md describes the operation %s and has its path',
  (operation) => {
    const { name, path } = OPERATIONS[operation]
    expect(document).toContain(`## ${name}\n`)
    expect(document).toMatch(new RegExp(`^\\| ${name} +\\| \`${path}\``, 'm'))
  },
)
