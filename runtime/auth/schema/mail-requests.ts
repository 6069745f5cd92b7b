import { own } from './own.ts'

const table = 'catalograph_auth.mail_requests'

/** Calls for a mail that were answered, and whose mail is still to be made: see mail-requests.ts beside this folder. */
export const mailRequests: readonly string[] = [
  `create table ${table} (
    id bigint generated always as identity primary key,
    kind text not null,
    request jsonb not null,
    created_at timestamptz not null default now(),
    taken_at timestamptz not null default now()
  )`,
  own(`table ${table}`),
]
