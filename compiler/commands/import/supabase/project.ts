/** The part of a hosted project that matters to a move; names are as SQL prints them, without quotes. */
export interface SupabaseProject {
  /** Roles, with the statements that name them: policies, grants, owners. */
  readonly roles: ReadonlyMap<string, ReadonlySet<RoleUse>>
  readonly roleSettings: readonly RoleSetting[]
  readonly extensions: readonly string[]
  /** Tables of schema auth. */
  readonly authTables: readonly string[]
  /** Rows of auth.users; null: not known. */
  readonly users: number | null
  /** Identities by their provider. */
  readonly providers: ReadonlyMap<string, number>
  /** Functions that Supabase calls, such as public.custom_access_token_hook. */
  readonly hooks: readonly string[]
  readonly buckets: readonly string[]
  /** Tables of the publication supabase_realtime. */
  readonly realtime: readonly string[]
  /** Triggers that call a URL. */
  readonly webhooks: readonly string[]
  readonly cronJobs: readonly string[]
  readonly secrets: number
  readonly eventTriggers: readonly string[]
}

export type RoleUse = 'policies' | 'grants' | 'owners'

export interface RoleSetting {
  readonly role: string
  readonly name: string
  readonly value: string
}

/** A function that an auth hook of Supabase may be: by its name, or by its one argument. */
export const isHook = (name: string, args: string): boolean =>
  /(?:^|_)hook$/.test(name) || (/hook/.test(name) && /^(?:"?event"? )?jsonb$/.test(args.trim()))
