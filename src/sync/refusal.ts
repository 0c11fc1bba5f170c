import type { CallError } from '../errors.ts'

/** How the problem of a run begins whose credentials were refused; metrics know it by that. */
export const REFUSED = 'The service refuses key or token'

/** Why a run was stopped, for the person who can mend it. */
export function refusal(error: CallError): string {
  return `${REFUSED}: check COLLAB_API_KEY and COLLAB_AUTH_TOKEN (or what is in COLLAB_AUTH_TOKEN_FILE). ${error.message}`
}
