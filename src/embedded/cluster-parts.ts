import type { Binaries } from './binaries.ts'
import type { Home } from './home.ts'
import type { Account } from './server-account.ts'

/** Everything that is needed to run the server of one home. */
export interface Cluster {
  home: Home
  /** Belongs to the server's account; holds the data and maybe a copy of the programs. */
  serverDirectory: string
  dataDirectory: string
  account: Account | null
  password: string
  binaries: Binaries
}
