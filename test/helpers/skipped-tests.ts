import type { Reporter, TestCase } from 'vitest/node'

/**
 * Reports a skipped test as a failure of the run where `CI` is true. A test is skipped where a program that it needs is
 * missing, or because of `skip`; names given with `-t` leave out the others, so they have no place in CI.
 */
export default class SkippedTests implements Reporter {
  readonly #skipped: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.result().state === 'skipped')
      this.#skipped.push(`${test.module.moduleId}: ${test.fullName}`)
  }

  onTestRunEnd(): void {
    if (this.#skipped.length === 0 || process.env['CI'] !== 'true') return
    console.error(`Skipped, which fails the run in CI:\n${this.#skipped.join('\n')}`)
    process.exitCode = 1
  }
}
