import { afterAll } from 'vitest'
import { closeOpened } from './closing.ts'

/** Registered before all of a test file, so it runs after all of it. Loaded before each test file. */
afterAll(closeOpened)
