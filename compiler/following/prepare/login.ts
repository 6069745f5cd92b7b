import type { Query } from '../../../runtime/db/connect/session.ts'
import { ident } from '../../../runtime/sql/ident.ts'

/** The login role of requests. It is not created here, because its owner must choose its password. */
export const loginExists = async (query: Query, login: string): Promise<boolean> =>
  (await query('select from pg_catalog.pg_roles where rolname = $1', [login])).rows.length > 0

export const lackOfLogin = (login: string): string => `the role ${login}, which DATABASE_URL names, does not exist`

export const loginRemedy = (login: string): string => `create role ${ident(login)} login noinherit password '...';`
