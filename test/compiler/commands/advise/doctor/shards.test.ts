import { beforeAll, describe, expect, it } from 'vitest'
import { prepareDatabase } from '../../../../../compiler/following/prepare/prepare.ts'
import { doctorCommand } from '../../../../../compiler/commands/doctor.ts'
import type { Finding } from '../../../../../compiler/commands/advise/doctor/findings.ts'
import { runCommand } from '../../../../support/command.ts'
import { citusMajor, noCitus, createDistributed } from '../../../../support/distributed.ts'
import { forSuite } from '../../../../support/for-suite.ts'
import { titled } from '../../../../support/programs.ts'

const major = citusMajor()

describe.skipIf(major === null)(titled('the doctor of a database of Citus', noCitus()), () => {
  const db = forSuite(
    createDistributed,
    major ?? 15,
    `create table task (tenant_id bigint primary key, done boolean not null default false);
      select create_distributed_table('task', 'tenant_id');
      grant usage on schema public to anon;
      grant select on task to anon;
      alter role anon login;
      alter role authenticated login;`,
  )
  beforeAll(async () => {
    await prepareDatabase({ url: db.ownerUrl, login: 'authenticator' })
  }, 120_000)

  const found = async (check: string): Promise<readonly Omit<Finding, 'check'>[]> => {
    const { printed } = await runCommand([doctorCommand], ['doctor', '--json'], {
      environment: {
        CATALOGRAPH_DATA: '/nowhere',
        JWT_SECRET: 'a secret that has more than thirty-two characters',
        DATABASE_URL: db.url,
        DATABASE_OWNER_URL: db.ownerUrl,
      },
    })
    const findings = JSON.parse(printed) as readonly Finding[]
    return findings.filter((one) => one.check === check).map(({ verdict, message, fix }) => ({ verdict, message, fix }))
  }

  const well = { verdict: 'ok', message: 'each role of the API reaches 2 worker nodes', fix: null }

  it('names a role that reaches no worker, and nothing once its statement was run', async () => {
    expect(await found('citus')).toEqual([
      {
        verdict: 'fault',
        message: 'service_role may not log in, and so reaches no worker node',
        fix: 'alter role "service_role" login;',
      },
    ])
    await db.query('alter role "service_role" login;')
    expect(await found('citus')).toEqual([well])
  })

  /** Without Citus handing it on. */
  const onWorkers = (command: string) =>
    db.query(`select run_command_on_workers($$set citus.enable_alter_role_propagation to off; ${command}$$)`)

  it('names roles that may not log in on the workers alone, with the statements, and nothing once those were run', async () => {
    const roles = ['anon', 'authenticated', 'service_role']
    for (const role of roles) await onWorkers(`alter role ${role} nologin`)
    const findings = await found('citus')
    expect(findings).toEqual(
      [0, 1].flatMap(() =>
        roles.map((role) => ({
          verdict: 'fault',
          message: expect.stringMatching(`^${role} may not log in on the worker node 127\\.0\\.0\\.1:\\d+$`),
          fix: `alter role "${role}" login;`,
        })),
      ),
    )
    for (const { fix } of findings) await db.query(fix ?? '')
    expect(await found('citus')).toEqual([well])
  })

  it('names a role that the workers refuse although it may log in', async () => {
    await onWorkers('alter role anon connection limit 0')
    expect(await found('citus')).toEqual(
      [0, 1].map(() => ({
        verdict: 'fault',
        message: expect.stringMatching(/^anon cannot log in on the worker node 127\.0\.0\.1:\d+$/),
        fix: expect.stringContaining('pg_hba.conf'),
      })),
    )
    await onWorkers('alter role anon connection limit -1')
  })

  it('names each setting by which a worker prints otherwise, and nothing once its statement was run', async () => {
    const { rows } = await db.query('show timezone')
    await db.query(`select run_command_on_workers($$alter system set timezone = 'Asia/Tokyo'$$)`)
    await db.query('select run_command_on_workers($$select pg_reload_conf()$$)')
    const zone = String(rows[0]?.['TimeZone'])
    const fix = `alter database "distributed" set "TimeZone" = '${zone}';`
    await expect
      .poll(() => found('citus'), { timeout: 10_000 })
      .toEqual([
        well,
        ...[0, 1].map(() => ({
          verdict: 'advice',
          message: expect.stringMatching(
            `^TimeZone is Asia/Tokyo on the worker node 127\\.0\\.0\\.1:\\d+ and ${zone} here`,
          ),
          fix,
        })),
      ])
    await db.query(fix)
    expect(await found('citus')).toHaveLength(1)
  })

  it('names each table that restrictive policies keep out of the API, with the statements', async () => {
    await db.query('alter table task enable row level security')
    await db.query('create policy own on task using (tenant_id = 1)')
    await db.query('create policy narrow on task as restrictive using (not done)')
    expect(await found('policies')).toEqual([
      {
        verdict: 'fault',
        message: expect.stringMatching(/^table public\.task: .*"narrow"/),
        fix: 'alter policy "own" on "public"."task" using ((tenant_id = 1) and (NOT done)); drop policy "narrow" on "public"."task";',
      },
    ])
    expect(await found('schema')).toEqual([])
  })

  it('names a worker node that is away', async () => {
    await db.query('update pg_dist_node set nodeport = 1 where groupid = 2')
    expect(await found('citus')).toEqual([
      {
        verdict: 'fault',
        message: expect.stringMatching(/^the worker node 127\.0\.0\.1:1 cannot be reached$/),
        fix: expect.stringContaining('citus_update_node'),
      },
    ])
  })
})
