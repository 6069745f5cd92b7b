import { Type, type TSchema } from 'typebox'
import { anything, body, either, exactly, io, object, ok, patch, query, text, time } from '../../auth/io/build.ts'
import { templateKinds } from '../../auth/mails/kinds.ts'
import { authSettingRows, type AuthSettingName, type SettingType } from '../../auth/settings/setting-keys.ts'

/** Input and output of the owner's endpoints; the types of answers.ts are derived from it. */

const settingName = Type.Unsafe<AuthSettingName>({ type: 'string', enum: authSettingRows.map(([name]) => name) })
const flag = Type.Boolean()
const whole = Type.Integer()
const orNone = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

const setting = exactly({
  name: settingName,
  type: Type.Unsafe<SettingType>({ type: 'string', description: 'How it is written' }),
  value: anything('Null for secrets, and for what is off'),
  set: flag,
  secret: flag,
  help: text('For people'),
})

const settings = {
  settings: Type.Array(setting),
  google: exactly({
    missing: Type.Array(Type.Unsafe<AuthSettingName>({ type: 'string', description: 'A setting that Google needs' })),
  }),
  warnings: Type.Array(exactly({ name: settingName, warning: text('For people') })),
}

const templateTexts = { subject: text('With variables'), html: text('With variables') }
const kind = either('Kind of mail', ...templateKinds)
const template = exactly({ kind, ...templateTexts, changed: Type.Optional(flag) })

export const getProject = io(
  'Where the project is, and what applications are given',
  ok(
    exactly({
      url: text('Address, without a slash at its end'),
      anon_key: text('For applications'),
      mails: either('Kept: no mail server is set', 'kept', 'sent'),
    }),
  ),
)

export const getOverview = io(
  'State and versions, and the extent of the API and of its users',
  ok(
    exactly({
      status: either('Of this process, as /readyz answers it', 'ok', 'starting', 'stopping', 'down'),
      fault: orNone(text('The change that serving needs')),
      version: text('Of Catalograph'),
      commit: text('That was built; empty: unknown'),
      node: text('Its version'),
      postgres: text('Its version'),
      /** Tables and views of the served schemas; null: no schema is loaded. */
      relations: orNone(whole),
      roles: Type.Array(exactly({ role: text('A role of keys and sessions'), relations: whole })),
      /** Null: auth is not enabled. */
      users: orNone(exactly({ all: whole, guests: whole, week: whole })),
    }),
  ),
)

export const prepareProject = io(
  'Makes the tables of auth where they are missing',
  ok(exactly({ applied: Type.Array(text('A step')) })),
  body({}),
)

export const getSchema = io('The whole API of a role', ok(object('GraphQL introspection')), {
  ...query({ role: text('anon unless it is given') }),
})

export const getReport = io(
  'Every table and function, whether it is in the API of a role, and advice',
  ok(object('The schema report')),
  {
    ...query({ role: text('anon unless it is given') }),
  },
)

export const getSettings = io('Settings of auth, without secrets', ok(exactly(settings)))

export const patchSettings = io(
  'Changes settings, all or none (RFC 7396)',
  {
    ...ok(exactly(settings)),
    422: {
      kind: 'json',
      schema: exactly({
        code: text('validation_failed'),
        message: text('For people'),
        problems: Type.Optional(Type.Array(exactly({ name: text('A setting'), problem: text('For people') }))),
      }),
    },
  },
  patch(Object.fromEntries(authSettingRows.map(([name, { help }]) => [name, anything(help)]))),
)

export const getTemplates = io('Mails as they look now', ok(exactly({ templates: Type.Array(template) })))
export const patchTemplate = io('Changes a mail', ok(template), body(templateTexts))
export const deleteTemplate = io('Resets a template to its default', ok(template))

export const getMails = io(
  'Mails that are kept because no mail server is set, newest first',
  ok(
    exactly({
      mails: Type.Array(
        exactly({
          id: text('Number'),
          kind: text('Kind of mail'),
          recipient: text('Address'),
          subject: text('As sent'),
          html: text('As sent'),
          text: text('The same without HTML'),
          created_at: text('Time'),
        }),
      ),
    }),
  ),
  query({ last: text('How many; 20 unless it is given') }),
)

export const postToken = io(
  "A user's access token for ten minutes, without a session",
  ok(
    exactly({
      access_token: text('JWT'),
      token_type: either('RFC 6750', 'bearer'),
      expires_in: whole,
      expires_at: whole,
    }),
  ),
  body({ user_id: text('UUID') }),
)

const optionalWhole = Type.Optional(whole)
const sql = orNone(text('SQL'))

export const getRequests = io(
  'Slow and failed GraphQL requests of all workers, newest first',
  ok(
    exactly({
      requests: Type.Array(
        exactly({
          request_id: text('As answered in X-Request-Id'),
          answered_at: time,
          operation: text('Name of the operation'),
          role: text('Of the caller'),
          outcome: text('Where it ended'),
          code: orNone(text('Of its first error')),
          ms: whole,
          phases: exactly({ prepare: optionalWhole, queue: optionalWhole, database: optionalWhole }),
          hash: text('SHA-256 of the document'),
          has_document: flag,
        }),
      ),
      slow_ms: whole,
    }),
  ),
)

export const getLive = io(
  'The live queries of all workers, and their counts since each started',
  ok(
    exactly({
      streams: whole,
      sockets: whole,
      watches: whole,
      waiting: whole,
      runs: Type.Array(
        exactly({
          reason: text('Why they were made'),
          result: either('Whether the answer changed', 'changed', 'same', 'failed'),
          count: whole,
        }),
      ),
      refused: Type.Array(exactly({ limit: text('The exceeded limit'), count: whole })),
      lag: orNone(exactly({ answers: whole, p50_ms: whole, p99_ms: whole, max_ms: whole })),
      tables: Type.Array(
        exactly({ schema: text('Its schema'), name: text('Its name'), watches: whole, changes: whole, unheard: whole }),
      ),
      faults: Type.Array(text('Faults that prevent reports of changes')),
    }),
  ),
)

export const getDocument = io(
  'The document of a slow or failed request, without the values in it',
  ok(exactly({ document: text('GraphQL') })),
)

export const getPolicies = io(
  'Tables of the served schemas with their policies of row-level security',
  ok(
    exactly({
      tables: Type.Array(
        exactly({
          schema: text('Its schema'),
          name: text('Its name'),
          /** Row-level security is on; `forced`: it also applies to the table's owner. */
          enabled: flag,
          forced: flag,
          policies: Type.Array(
            exactly({
              name: text('Its name'),
              command: either('The command', 'all', 'select', 'insert', 'update', 'delete'),
              permissive: flag,
              roles: Type.Array(text('A role, or public')),
              using: sql,
              check: sql,
            }),
          ),
        }),
      ),
    }),
  ),
)

const commandAccess = Type.Union([
  /** The role lacks this privilege. */
  exactly({
    kind: Type.Literal('no-grant'),
    privilege: either('The missing requirement', 'usage', 'select', 'insert', 'update', 'delete'),
  }),
  /** Row-level security applies, and no policy allows the command. */
  exactly({ kind: Type.Literal('no-policy') }),
  exactly({ kind: Type.Literal('rows'), rows: whole, more: flag }),
  /** Every new row, or those that meet the check of a policy. */
  exactly({ kind: Type.Literal('new-rows'), checked: flag }),
  exactly({ kind: Type.Literal('failed'), message: text('The message of Postgres') }),
])

export const getAccess = io(
  'How many rows of a table each command reaches, as a role or a user',
  ok(
    exactly({
      role: text('As which they were counted'),
      select: commandAccess,
      insert: commandAccess,
      update: commandAccess,
      delete: commandAccess,
    }),
  ),
  query({
    schema: text('Of the table'),
    table: text('Its name'),
    role: text('anon unless it is given'),
    user_id: text('UUID; the role and the claims are those of the user then'),
  }),
)
