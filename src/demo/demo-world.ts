import type { WorldOptions } from './layout.ts'

/** The world of `collab-sync demo`. docs/QUESTIONS.md and docs/MORE_FIELDS.md query it. */
export const DEMO_WORLD = {
  seed: 7,
  organizations: 8,
  documentsPerOrganization: 12,
  annotationsPerDocument: 16,
  commentsPerAnnotation: 5,
  usersPerOrganization: 30,
  groupsPerOrganization: 3,
  names: 'plain',
  moreFields: true,
} as const satisfies WorldOptions

/** The changes before its second run. */
export const DEMO_CHANGES = { count: 60, seed: 7 } as const
