import { userInfo } from 'node:os'

/** Who runs this process: its user's name; `uid 54321` in a container whose list of users lacks it. */
export function processUser(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
