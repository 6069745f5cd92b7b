import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { doctorCommand } from '../../../../../compiler/commands/doctor.ts'
import { keysCommand } from '../../../../../compiler/commands/keys.ts'
import { ensureLocalSecret } from '../../../../../compiler/commands/start.ts'
import type { Finding } from '../../../../../compiler/commands/advise/doctor/findings.ts'
import { runCommand } from '../../../../support/command.ts'
import { asRole, createDatabase } from '../../../../support/database.ts'
import { forSuite } from '../../../../support/for-suite.ts'

/** The objects in a database that was prepared for another service. */

const secret = 'a secret that has more than thirty-two characters'

describe('catalograph doctor', () => {
  let owner: string
  let folder: string
  const db = forSuite(createDatabase, {
    isolated: true,
    prepare: 'auth',
    sql: 'create role keeper login createrole',
    superuser: 'has superusers, and objects of several owners',
  })
  beforeAll(async () => {
    await db.query(`alter schema public owner to keeper; grant anon, authenticated, service_role, supabase_auth_admin to keeper;
      set role keeper; create table todos (id int primary key); grant usage on schema public to anon;
      grant select on todos to anon; reset role`)
    owner = asRole(db.ownerUrl, 'keeper')
    folder = await mkdtemp(join(tmpdir(), 'catalograph-doctor-'))
    await ensureLocalSecret(folder)
  })

  const environment = () => ({ DATABASE_URL: db.url, DATABASE_OWNER_URL: owner, CATALOGRAPH_DATA: folder })
  const found = async (check: string): Promise<readonly Omit<Finding, 'check'>[]> => {
    const settings = { ...environment(), JWT_SECRET: secret }
    const { printed } = await runCommand([doctorCommand], ['doctor', '--json'], { environment: settings })
    const findings = JSON.parse(printed) as readonly Finding[]
    return findings.filter((one) => one.check === check).map(({ verdict, message, fix }) => ({ verdict, message, fix }))
  }

  it('names the object of a comment that makes every request fail', async () => {
    await db.query(`comment on table todos is '@graphql({name: "Todo"})'`)
    expect(await found('comments')).toEqual([
      {
        verdict: 'fault',
        message: expect.stringMatching(
          /^table public\.todos: The comment asks for .* every request fails because of it/,
        ),
        fix: expect.stringContaining('Write one JSON object'),
      },
    ])
    await db.query('comment on table todos is null')
    expect(await found('comments')).toMatchObject([{ verdict: 'ok' }])
  })

  it('names a library that the login role loads and this server may not have', async () => {
    await db.query(`alter role authenticator set session_preload_libraries = 'not_there'`)
    expect(await found('connection')).toMatchObject([
      { verdict: 'fault', message: expect.stringContaining('not_there') },
    ])
    const [finding] = await found('role settings')
    expect(finding).toEqual({
      verdict: 'fault',
      message:
        'role authenticator sets session_preload_libraries to not_there, and this server may not have that library',
      fix: 'alter role "authenticator" reset session_preload_libraries;',
    })
    await db.query(finding?.fix ?? '')
    expect(await found('connection')).toMatchObject([{ verdict: 'ok' }])
    expect(await found('role settings')).toEqual([])
  })

  it('names settings of role and database that change what requests may do', async () => {
    const name = new URL(db.url).pathname.slice(1)
    await db.query(`alter database ${name} set default_transaction_read_only = on`)
    await db.query(`alter role authenticator set role = anon; alter role authenticator set search_path = nowhere`)
    const findings = await found('role settings')
    expect(findings.map(({ message }) => message)).toEqual([
      `database ${name} sets default_transaction_read_only to on: every write is refused`,
      'role authenticator sets role to anon: every connection begins as anon',
    ])
    await db.query('set default_transaction_read_only = off')
    for (const { fix } of findings) await db.query(fix ?? '')
    expect(await found('role settings')).toEqual([])
  })

  it('says that a hook for tokens is not called', async () => {
    expect(await found('token hook')).toEqual([])
    await db.query(
      `create function public.custom_access_token_hook(event jsonb) returns jsonb language sql as 'select event'`,
    )
    expect(await found('token hook')).toMatchObject([
      { verdict: 'advice', message: expect.stringContaining('function public.custom_access_token_hook is not called') },
    ])
  })

  it('and the command keys use the secret of the embedded database for no other database', async () => {
    const run = (command: typeof keysCommand, args: readonly string[], settings: Readonly<Record<string, string>>) =>
      runCommand([command], args, { environment: settings })
    const { printed } = await run(doctorCommand, ['doctor'], environment())
    expect(printed).toMatch(/^FAULT +keys +JWT_SECRET is not set$/m)
    expect(await run(keysCommand, ['keys'], environment())).toMatchObject({
      exitCode: 1,
      printed: '',
      noted: expect.stringContaining('set JWT_SECRET to the one that this database is served with'),
    })
    expect(await run(keysCommand, ['keys'], { ...environment(), JWT_SECRET: secret })).toMatchObject({
      exitCode: 0,
      noted: 'catalograph: these are the keys of JWT_SECRET',
    })
    expect(await run(keysCommand, ['keys'], { CATALOGRAPH_DATA: folder })).toMatchObject({
      exitCode: 0,
      noted: `catalograph: these are the keys of the embedded database in ${folder}`,
    })
  })
})
