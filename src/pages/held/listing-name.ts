import type { HeldListing } from '../../collab-sync/collab-sync.ts'

/** A listing in words, such as `document plan of acme`. */
export function listingName(
  listing: Pick<HeldListing, 'kind' | 'organizationId' | 'documentId' | 'organizationUserGroupId'>,
): string {
  const { organizationId, documentId, organizationUserGroupId } = listing
  if (listing.kind === 'document') return `document ${documentId} of ${organizationId}`
  if (listing.kind === 'group') return `user group ${organizationUserGroupId} of ${organizationId}`
  return `organization ${organizationId}`
}
