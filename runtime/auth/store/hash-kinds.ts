import { hashKind as kind, isForeignHash as isForeign } from '../schema/tables.ts'
import { defineList } from './define.ts'

const next = (more: string): string =>
  `(select ${kind} as kind from auth.users where ${isForeign} ${more} order by ${kind} limit 1)`

/** The stored kinds except our own: each is found in the index after the previous one, at constant cost per kind. */
export const storedHashKinds = defineList<{ readonly kind: string }, []>(
  'auth.hash-kinds.stored',
  `with recursive kinds (kind) as (
    ${next(`and ${kind} is not null`)}
    union all
    select ${next(`and ${kind} > kinds.kind`)} from kinds where kinds.kind is not null
  )
  select kind from kinds where kind is not null`,
)
