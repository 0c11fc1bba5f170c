import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const read = (file: string) =>
  JSON.parse(readFileSync(resolve(import.meta.dirname, '../..', file), 'utf8'))

test('who installs the package gets what the tests had: nothing is overridden, and all of it takes Node 20', () => {
  // Overrides do not travel with a package.
  expect(read('package.json')).not.toHaveProperty('overrides')
  const packages: Record<string, { engines?: { node?: string }; dev?: true }> =
    read('package-lock.json').packages
  const newer = Object.entries(packages).filter(
    ([, { dev, engines }]) => !dev && /^\s*>=?\s*2[1-9]/.test(engines?.node ?? ''),
  )
  expect(newer.map(([path]) => path)).toEqual([])
})
