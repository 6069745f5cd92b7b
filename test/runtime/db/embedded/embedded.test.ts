import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startEmbedded, type EmbeddedPostgres } from '../../../../runtime/db/embedded/embedded.ts'
import { isAlive } from '../../../../runtime/db/embedded/processes.ts'
import { withSession } from '../../../../runtime/db/connect/session.ts'

const one = async (url: string, text: string): Promise<unknown> =>
  withSession({ url }, async (query) => Object.values((await query<Record<string, unknown>>(text)).rows[0] ?? {})[0])

const serverPid = async (folder: string): Promise<number> =>
  Number.parseInt(await readFile(join(folder, 'postmaster.pid'), 'utf8'), 10)

describe('the embedded Postgres', () => {
  let parent: string
  let folder: string
  const steps: string[] = []
  const started: EmbeddedPostgres[] = []
  const start = async (port?: number): Promise<EmbeddedPostgres> => {
    const onProgress = (step: string): void => void steps.push(step)
    const running = await startEmbedded({ folder, onProgress, ...(port === undefined ? {} : { port }) })
    started.push(running)
    return running
  }

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'catalograph-embedded-'))
    await chmod(parent, 0o755)
    folder = join(parent, 'data folder', 'postgres')
  })
  // Stopping twice does no harm; a test that failed half-way must not leave its server to the next one.
  afterEach(async () => {
    for (const running of started.splice(0)) await running.stop()
  })
  afterAll(() => rm(parent, { recursive: true, force: true }))

  test('starts, stops, and has its data after another start', async () => {
    const first = await start()
    expect(steps).toEqual([expect.stringContaining(folder), 'Starting Postgres'])
    expect(await one(first.adminUrl, `select current_setting('server_version_num')::int / 10000`)).toBe(18)
    await one(first.adminUrl, 'create table public.kept ()')
    const becomes = `select string_agg(b.rolname, ' ' order by b.rolname) from pg_roles b
      where pg_has_role('authenticator', b.oid, 'SET') and b.rolname <> session_user`
    expect(await one(first.serveUrl, becomes)).toBe('anon authenticated service_role')
    expect(
      await one(
        first.serveUrl,
        `select count(*)::int from pg_roles where rolname = session_user
      and not rolinherit and not rolsuper`,
      ),
    ).toBe(1)
    expect(await one(first.adminUrl, `select current_setting('fsync')`)).toBe('on')
    await first.stop()
    const second = await start()
    expect(second.adminUrl).toBe(first.adminUrl)
    expect(await one(second.adminUrl, `select to_regclass('public.kept')::text`)).toBe('public.kept')
    await one(second.serveUrl, 'select 1')
    await second.stop()
    expect(steps.length).toBe(3)
  })

  test('passwords are kept where only the owner reads, and needed', async () => {
    const file = `${folder}.passwords.json`
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const running = await start()
    const url = new URL(running.adminUrl)
    url.password = 'wrong'
    await expect(one(url.href, 'select 1')).rejects.toMatchObject({ kind: 'unavailable', sqlstate: '28P01' })
    await running.stop()
  })

  test('a folder in use is refused while its server lives on', async () => {
    const running = await start()
    await expect(start()).rejects.toThrow(`in use by process ${process.pid}`)
    expect(await one(running.adminUrl, 'select 1')).toBe(1)
    await running.stop()
  })

  test('a taken port is reported with the words of the server; the folder is free again', async () => {
    const blocker = createServer().listen(0, '127.0.0.1')
    await once(blocker, 'listening')
    const address = blocker.address()
    await expect(start(typeof address === 'object' ? address?.port : 0)).rejects.toThrow(/Address already in use/)
    blocker.close()
    const kept = await start()
    await kept.stop()
    const { port } = new URL(kept.adminUrl)
    const other = createServer().listen(Number(port), '127.0.0.1')
    await once(other, 'listening')
    const elsewhere = await start()
    other.close()
    expect(new URL(elsewhere.adminUrl).port).not.toBe(port)
    await elsewhere.stop()
  })

  test('a server whose process was killed is stopped and replaced', async () => {
    const orphan = await start()
    const pid = await serverPid(folder)
    // As a killed process would leave it: the server runs, its lock names a process that is gone.
    const dead = spawn(process.execPath, ['--eval', ''])
    await once(dead, 'exit')
    await writeFile(`${folder}.lock`, `${dead.pid} 1`)
    const next = await start()
    expect(isAlive(pid)).toBe(false)
    expect(await one(next.adminUrl, 'select 1')).toBe(1)
    await next.stop()
    await orphan.stop()
  })

  test('a postmaster.pid of a dead or foreign process does not prevent a start', async () => {
    for (const pid of [2 ** 22 - 3, process.pid]) {
      await writeFile(join(folder, 'postmaster.pid'), `${pid}\n${folder}\n1700000000\n5432\n\n127.0.0.1\n\n`)
      await (await start()).stop()
    }
  })
})
