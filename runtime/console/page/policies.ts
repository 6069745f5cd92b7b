import type { AccessAnswer, CommandAccess } from '../admin/call.ts'
import type { TableName } from '../admin/access.ts'
import type { RowCommand } from '../admin/reach.ts'
import type { Result } from './api.ts'
import { roleOf, type Whom } from './whom.ts'

/** The effect of policies for a role or user, in words. */

export const commandNames = ['select', 'insert', 'update', 'delete'] as const satisfies readonly RowCommand[]

export type Tried = Result<AccessAnswer>

export const tableKey = ({ schema, name }: TableName): string => `${schema}.${name}`

export function accessPath({ schema, name }: TableName, whom: Whom): string {
  const who: Readonly<Record<string, string>> = whom.kind === 'user' ? { user_id: whom.id } : { role: roleOf(whom) }
  return `admin/v1/access?${new URLSearchParams({ schema, table: name, ...who })}`
}

export const sentenceOfAccess = (tried: Tried, command: RowCommand): string =>
  tried.kind === 'refused' ? tried.refusal.message : sentenceOf(tried.value[command])

function sentenceOf(access: CommandAccess): string {
  switch (access.kind) {
    case 'no-grant':
      return `no: ${access.privilege} is not granted`
    case 'no-policy':
      return 'no: no policy allows it'
    case 'rows':
      return `${access.more ? 'more than ' : ''}${access.rows} ${access.rows === 1 ? 'row' : 'rows'}`
    case 'new-rows':
      return access.checked ? 'rows that a policy allows' : 'any row'
    case 'failed':
      return `failed: ${access.message}`
  }
}
