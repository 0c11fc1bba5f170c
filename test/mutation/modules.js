/**
 * What decides, by module: the files that are mutated and the tests that must notice. Only tests without servers: each
 * mutant is run against them.
 * @type {Record<string, { mutate: string[], tests: string[] }>}
 */
export const MODULES = {
  failures: {
    mutate: ['src/service/errors.ts', 'src/service/filters.ts', 'src/service/answer.ts'],
    tests: ['failures', 'filters', 'answer'].map((name) => `test/service/${name}.test.ts`),
  },
  retry: {
    mutate: [
      'src/service/retry.ts',
      'src/service/wait.ts',
      'src/service/token.ts',
      'src/service/circuit-breaker.ts',
      'src/service/concurrency.ts',
    ],
    tests: ['retry', 'wait', 'token', 'breaker', 'concurrency'].map(
      (name) => `test/service/${name}.test.ts`,
    ),
  },
  calls: {
    mutate: ['src/service/attempt.ts'],
    tests: ['client', 'attempt'].map((name) => `test/service/${name}.test.ts`),
  },
  rate: {
    mutate: ['src/rate-limit/limiter.ts'],
    tests: ['test/rate-limit/limiter.test.ts'],
  },
  secrets: {
    mutate: ['src/log.ts', 'src/printable.ts'],
    tests: ['test/log.test.ts'],
  },
  scope: {
    mutate: ['src/documents/scope.ts', 'src/documents/check.ts'],
    tests: ['test/documents/scope.test.ts'],
  },
  catalog: {
    mutate: ['src/catalog/lines.ts', 'src/catalog/file.ts', 'src/documents/catalog-line.ts'],
    tests: ['test/catalog/lines.test.ts', 'test/catalog/file.test.ts'],
  },
  settings: {
    mutate: ['src/settings/parse.ts', 'src/documents/schedule.ts'],
    tests: ['test/settings/settings.test.ts', 'test/settings/parse.test.ts'],
  },
  privacy: {
    mutate: ['decode', 'json', 'people', 'privacy', 'redact-members', 'redact-text', 'redact'].map(
      (name) => `src/privacy/${name}.ts`,
    ),
    tests: ['redact-text', 'redact', 'decode', 'people'].map(
      (name) => `test/privacy/${name}.test.ts`,
    ),
  },
  compare: {
    mutate: [
      'src/sync/compare/comments.ts',
      'src/sync/compare/contents.ts',
      'src/sync/compare/listings.ts',
    ],
    tests: ['compare', 'compare-contents', 'decide-listings'].map(
      (name) => `test/sync/${name}.test.ts`,
    ),
  },
  record: {
    mutate: [
      'src/sync/record/member.ts',
      'src/sync/record/digest.ts',
      'src/sync/record/user.ts',
      'src/sync/record/comment.ts',
      'src/sync/record/received.ts',
      'src/json-text.ts',
    ],
    tests: [
      ...['comment-record', 'content-digest', 'timestamp', 'user-record', 'received'].map(
        (name) => `test/sync/${name}.test.ts`,
      ),
      'test/json-text.test.ts',
    ],
  },
}
