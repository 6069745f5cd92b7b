import type { Static } from 'typebox'
import type { schemas } from '../../auth/io/schemas.ts'

/** A user as the admin endpoints list it (spec/auth.md 3.1). */
export type ListedUser = Omit<Static<typeof schemas.User>, 'identities'> & {
  readonly identities: readonly Static<typeof schemas.Identity>[]
}

export interface ListedUsers {
  readonly users: readonly ListedUser[]
}

export const nameOf = ({ email, is_anonymous: isGuest, id }: ListedUser): string =>
  email !== undefined && email !== '' ? email : isGuest ? `Guest ${id.slice(0, 8)}` : id

export interface UserSearch {
  readonly filter: string
  readonly page: number
  readonly perPage: number
}

export const usersPath = ({ filter, page, perPage }: UserSearch): string =>
  `auth/v1/admin/users?${new URLSearchParams({ filter, page: String(page), per_page: String(perPage) })}`
