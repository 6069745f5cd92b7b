import type { Query } from '../../../runtime/db/connect/session.ts'
import { ident } from '../../../runtime/sql/ident.ts'

/** The role that requests log in as. Preparing does not make it, since its password is for its owner to choose. */
export const loginExists = async (query: Query, login: string): Promise<boolean> =>
  (await query('select from pg_catalog.pg_roles where rolname = $1', [login])).rows.length > 0

export const lackOfLogin = (login: string): string => `the role ${login}, which DATABASE_URL names, does not exist`

export const loginRemedy = (login: string): string => `create role ${ident(login)} login noinherit password '...';`
