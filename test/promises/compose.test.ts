import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { withSession } from '../../runtime/db/connect/session.ts'
import { startEmbedded, type EmbeddedPostgres } from '../../runtime/db/embedded/embedded.ts'
import { settingKeys } from '../../runtime/settings/keys.ts'
import { runBuilt } from '../support/built-cli.ts'
import { startMailServer } from '../support/mail-server.ts'
import { serveBuilt } from '../support/served.ts'

/** The steps of compose.yaml, in the order of its services and without an engine of containers. */

interface Service {
  readonly image?: string
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly read_only?: boolean
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

const root = new URL('../..', import.meta.url).pathname
const { services, volumes } = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}

let folder: string
/** A server of its own: roles belong to a whole server. */
let postgres: EmbeddedPostgres
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'compose-'))
  for (const volume of Object.keys(volumes)) mkdirSync(join(folder, volume))
  chmodSync(folder, 0o755)
  postgres = await startEmbedded({ folder: join(folder, 'postgres'), onProgress: () => undefined })
})
afterAll(async () => {
  await postgres.stop()
  rmSync(folder, { recursive: true })
})

/** A text with the paths of a service's volumes on this machine. */
const inVolume = ({ volumes: mounts = [] }: Service, text: string): string => {
  const places = new Map(mounts.map((mount) => mount.split(':')).map(([volume = '', target = '']) => [target, volume]))
  const targets = new RegExp(`(?<![\\w/])(?:${[...places.keys(), '$^'].join('|')})(?=/)`, 'g')
  return text.replaceAll(targets, (target) => join(folder, places.get(target) ?? ''))
}

/** Compose writes `$$` for `$`. */
const runSecrets = (): void => {
  const service = services['secrets'] ?? {}
  const script = inVolume(service, service.command?.[0] ?? '').replaceAll('$$', '$')
  execFileSync('sh', ['-euc', script])
}

const contentOf = (volume: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(join(folder, volume)).map((name) => [name, readFileSync(join(folder, volume, name), 'utf8')]),
  )

/** As the image of Postgres does: a database, and in it the scripts as the superuser. */
const initialize = async (script: string): Promise<void> => {
  const run = (url: string, ...texts: readonly string[]): Promise<void> =>
    withSession({ url }, async (query) => {
      for (const text of texts) await query(text)
    })
  const roles = 'drop role anon, authenticated, service_role, authenticator'
  await run(postgres.adminUrl, roles, 'create database app')
  await run(Object.assign(new URL(postgres.adminUrl), { pathname: '/app' }).href, script)
}

/** Environment of a service, with the files of its volumes. */
const environmentOf = (name: string): Record<string, string> => {
  const service = services[name] ?? {}
  return Object.fromEntries(
    Object.entries(service.environment ?? {}).map(([key, value]) => [key, inVolume(service, value)]),
  )
}

describe('compose.yaml', () => {
  it('names services, volumes, files and settings that exist', () => {
    const settings = new Set(Object.values(settingKeys).flatMap(({ env }) => [env, `${env}_FILE`]))
    for (const service of Object.values(services)) {
      for (const name of Object.keys(service.depends_on ?? {})) expect(services).toHaveProperty(name)
      for (const mount of service.volumes ?? []) expect(volumes).toHaveProperty(mount.split(':')[0] ?? '')
      if (service.build === undefined) continue
      expect(readdirSync(join(root, service.build.context))).toContain(service.build.dockerfile)
      expect(Object.keys(service.environment ?? {}).filter((name) => !settings.has(name))).toEqual([])
    }
    expect(services['catalograph']).toMatchObject({ read_only: true })
  })

  it('gives the API neither the superuser nor its password', () => {
    const mounts = services['catalograph']?.volumes?.map((mount) => mount.split(':')[0])
    expect(mounts).toEqual(['service'])
    expect(JSON.stringify(services['catalograph']?.environment)).not.toContain('postgres://')
  })

  it('makes secrets, roles and auth with its own commands, and serves a sign-up with its mail', async () => {
    runSecrets()
    const made = Object.fromEntries(['superuser', 'roles', 'service'].map((volume) => [volume, contentOf(volume)]))
    runSecrets()
    for (const volume of Object.keys(made)) expect(contentOf(volume)).toEqual(made[volume])
    expect(made['service']?.['jwt-secret']?.length).toBeGreaterThanOrEqual(32)
    expect(JSON.stringify(made['service'])).not.toContain(made['superuser']?.['superuser'])

    await initialize(made['roles']?.['roles.sql'] ?? '')
    for (const name of ['database-url', 'owner-url']) {
      const text = made['service']?.[name] ?? ''
      writeFileSync(join(folder, 'service', name), text.replace('database:5432', new URL(postgres.adminUrl).host))
    }

    const enable = (services['auth']?.command ?? []).map((word) => word.replace(/\$\{SITE_URL:-(.*)\}/, '$1'))
    for (const attempt of ['the first time', 'on a later start']) {
      const { exitCode, stderr } = await runBuilt(enable, environmentOf('auth'))
      expect({ attempt, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ attempt, exitCode: 0, stderr: '' })
    }

    const mails = await startMailServer()
    onTestFinished(mails.stop)
    const { 'database-url': url = '', 'owner-url': ownerUrl = '', 'jwt-secret': JWT_SECRET = '' } = contentOf('service')
    const { MAIL_FROM = '', BASE_URL = '' } = services['catalograph']?.environment ?? {}
    const served = await serveBuilt({ url, ownerUrl }, { SMTP_URL: mails.url, JWT_SECRET, MAIL_FROM, BASE_URL })
    onTestFinished(async () => void (await served.stop()))
    const keys = await runBuilt(['keys'], environmentOf('catalograph'))
    const anon = /^anon +(\S+)/m.exec(keys.stdout)?.[1] ?? ''
    const email = `${randomBytes(4).toString('hex')}@example.com`
    const answer = await fetch(`${served.url}/auth/v1/signup`, {
      method: 'POST',
      headers: { apikey: anon, 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: 'a long password of this test' }),
    })
    expect(answer.status).toBe(200)
    await expect.poll(() => mails.received.map(({ recipients }) => recipients)).toEqual([[email]])
  })
})
