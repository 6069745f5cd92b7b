export interface ListedUser {
  readonly id: string
  readonly role: string
  readonly email?: string
  readonly is_anonymous: boolean
  readonly created_at: string
  readonly last_sign_in_at?: string | null
  readonly confirmed_at?: string
  readonly banned_until?: string
  readonly identities?: readonly { readonly provider: string }[]
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
