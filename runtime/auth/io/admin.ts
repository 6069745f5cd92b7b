import { Type } from 'typebox'
import { body, exactly, flag, id, io, ref, object, ok, oneOf, query, text, time } from './build.ts'
import { userMembers } from './schemas.ts'

const email = text('Address')
const redirectTo = { redirect_to: text('Where the browser shall go; an allowed address') }
const page = { page: text('From 1'), per_page: text('50 unless it is given') }
const user = ok(ref('User'))
const done = ok(ref('Done'))

const account = {
  email,
  phone: text('Refused: phones are not supported'),
  password: text('At most 72 bytes'),
  password_hash: text('bcrypt, Argon2 or Firebase scrypt'),
  email_confirm: flag('The address counts as confirmed'),
  user_metadata: object('User metadata'),
  app_metadata: object('Merged into what is there; null takes a key away'),
  role: text('Database role'),
  ban_duration: text('A duration such as 24h, or none'),
}

export const invite = io('An account, and a mail that opens it', user, {
  ...query(redirectTo),
  ...body({ email, data: object('User metadata') }),
})

export const listUsers = io(
  'Users, newest first',
  ok(exactly({ users: Type.Array(ref('User')), aud: text('Audience') })),
  query({ ...page, filter: text('Part of an address'), sort: text('created_at, with asc or desc') }),
)

export const createUser = io('An account without a mail', user, body({ ...account, id: text('UUID') }))
export const showUser = io('A user', user)
export const updateUser = io('Changes a user', user, body(account))

export const deleteUser = io('Deletes a user', done, {
  ...body({ should_soft_delete: flag('Keeps the row, without anything personal') }),
})

export const listFactors = io("A user's factors", ok(Type.Array(ref('Factor'))))
export const renameFactor = io(
  'Names a factor',
  ok(ref('Factor')),
  body({ friendly_name: text('At most 64 characters') }),
)
export const removeFactor = io('Takes a factor away', ok(ref('Factor')))

const linkTypes = ['signup', 'invite', 'magiclink', 'recovery', 'email_change_current', 'email_change_new'] as const

export const generateLink = io(
  'The content of a mail, without sending it',
  ok(
    exactly({
      ...userMembers,
      action_link: text('The link'),
      email_otp: text('The code'),
      hashed_token: text('For POST /verify'),
      verification_type: oneOf('As asked', ...linkTypes),
      redirect_to: text('Where the link ends'),
    }),
  ),
  {
    ...query(redirectTo),
    ...body({
      type: oneOf('Which mail', ...linkTypes),
      email,
      new_email: text('Of a change of address'),
      password: text('Of a sign-up'),
      data: object('User metadata'),
      ...redirectTo,
    }),
  },
)

const auditEntries = ok(
  Type.Array(
    exactly({
      id,
      payload: object('The actor and the action'),
      created_at: Type.Optional(time),
      ip_address: text('Empty where it is not known'),
    }),
  ),
)

export const listAudit = io(
  'Events, newest first',
  auditEntries,
  query({ ...page, query: text('author:, action: or type:, and a text') }),
)

export const listAuditOf = io('Events by and about a user, newest first', auditEntries, query(page))
