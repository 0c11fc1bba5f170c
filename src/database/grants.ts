import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { EnvironmentError, UsageError } from '../errors.ts'
import { codeOf, transaction, transactionOn } from './pool.ts'
import type { Client, Database } from './pool.ts'
import * as grants from './statements/grants.ts'

/** What a role may see. */
export interface Sees {
  /** The organizations it was granted; null for all. */
  readonly organizationIds: readonly string[] | null
}

/**
 * Lets a role read `collab` and `reporting`: of everything, or of the organizations granted to it one by one. A role
 * that was granted organizations and is granted everything sees everything from then on.
 * @param organizationId null for everything
 * @throws UsageError for a role or organization that is not there, or a role that no policy can bind; EnvironmentError
 *   where this role may not grant
 */
export async function grantRole(
  database: Database,
  role: string,
  organizationId: string | null,
): Promise<Sees> {
  return changing(database, role, organizationId, async (client) => {
    await checkRole(client, role, organizationId)
    if (organizationId === null) {
      await grants.remove.run(client, { role, organizationId: null })
      await withdraw(client, ORGANIZATION_READER, role)
      await client.query(`grant ${READER} to ${quoted(role)}`)
      return { organizationIds: null }
    }
    await client.query(readFileSync(ORGANIZATION_READERS, 'utf8'))
    if ((await grants.add.run(client, { role, organizationId })) === 0)
      throw noOrganization(organizationId)
    await withdraw(client, READER, role)
    await client.query(`grant ${ORGANIZATION_READER} to ${quoted(role)}`)
    return readGrants(client, role)
  })
}

/**
 * Takes back what grantRole gave.
 * @param organizationId null takes everything away
 * @throws as grantRole does
 */
export async function revokeRole(
  database: Database,
  role: string,
  organizationId: string | null,
): Promise<Sees> {
  return changing(database, role, organizationId, async (client) => {
    await checkRole(client, role, null)
    const removed = await grants.remove.run(client, { role, organizationId })
    if (organizationId !== null && removed === 0) {
      throw new UsageError(
        `Role ${role} was not granted organization ${JSON.stringify(organizationId)}.`,
      )
    }
    const left = await readGrants(client, role)
    if (left.organizationIds?.length === 0) await withdraw(client, ORGANIZATION_READER, role)
    if (organizationId === null) await withdraw(client, READER, role)
    return left
  })
}

/** Puts what an upgrade brought under the policies too, where single organizations were ever granted. */
export async function renewOrganizationReaders(client: Client): Promise<void> {
  await transactionOn(client, () => guardViews(client))
}

/** As renewOrganizationReaders, in the caller's transaction: what it has made of views is guarded before anybody sees it. */
export async function guardViews(client: Client): Promise<void> {
  if (!(await grants.areInUse.one(client)).areInUse) return
  await grants.adopt.run(client)
  await client.query(readFileSync(ORGANIZATION_READERS, 'utf8'))
}

const ORGANIZATION_READERS = fileURLToPath(
  import.meta.resolve('#sql/roles/organization_readers.sql'),
)
const READER = 'collab_reader'
const ORGANIZATION_READER = 'collab_organization_reader'
const INSUFFICIENT_PRIVILEGE = '42501'
const UNDEFINED_OBJECT = '42704'

async function changing(
  database: Database,
  role: string,
  organizationId: string | null,
  work: (client: Client) => Promise<Sees>,
): Promise<Sees> {
  try {
    return await transaction(database, async (client) => {
      await grants.adopt.run(client)
      return work(client)
    })
  } catch (error) {
    const code = codeOf(error)
    if (code !== INSUFFICIENT_PRIVILEGE && code !== UNDEFINED_OBJECT) throw error
    const what = organizationId === null ? READER : `${READER} or ${ORGANIZATION_READER}`
    throw new EnvironmentError(
      `The role in DATABASE_URL may not grant ${what} to ${role} (${(error as Error).message}). ` +
        'Run this command once as a role that may create and grant roles.',
      { cause: error },
    )
  }
}

async function checkRole(
  client: Client,
  role: string,
  organizationId: string | null,
): Promise<void> {
  const known = await grants.role.first(client, { role })
  if (known === undefined) {
    throw new UsageError(
      `There is no role ${role} in PostgreSQL. Create it first: create role ${quoted(role)} login;`,
    )
  }
  if (organizationId === null) return
  if (known.isSuperuser) throw new UsageError(`Role ${role} is a superuser, who sees everything.`)
  if (known.readsBeneath) {
    throw new UsageError(
      `Role ${role} may read the tables beneath the views (schemas collab_store or sync): take that away first.`,
    )
  }
}

/** A role that it was never a member of is no fault, nor is one that was never made. */
async function withdraw(client: Client, from: string, role: string): Promise<void> {
  const { isMember } = await grants.isMember.one(client, { role, otherRole: from })
  if (isMember) await client.query(`revoke ${from} from ${quoted(role)}`)
}

async function readGrants(client: Client, role: string): Promise<Sees> {
  const granted = await grants.ofRole.all(client, { role })
  return { organizationIds: granted.map(({ organizationId }) => organizationId) }
}

function noOrganization(organizationId: string): UsageError {
  return new UsageError(
    `There is no organization ${JSON.stringify(organizationId)} in the catalog.`,
  )
}

function quoted(role: string): string {
  return `"${role.replaceAll('"', '""')}"`
}
