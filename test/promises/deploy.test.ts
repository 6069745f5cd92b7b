import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import { settingKeys } from '../../runtime/settings/keys.ts'
import { createMetrics } from '../../runtime/console/observe/metrics.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { serveBuilt } from '../support/served.ts'

/** The files of docs/deploy.md, without an engine of containers: what they name exists, and what they run works. */

const root = new URL('../..', import.meta.url).pathname
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const known = new Set([
  ...Object.values(settingKeys).flatMap(({ env }) => [env, `${env}_FILE`]),
  'CATALOGRAPH_CONFIG',
  'NODE_ENV',
])

interface Instruction {
  readonly word: string
  readonly rest: string
}

const instructions = (text: string): readonly Instruction[] =>
  text
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [word = '', ...rest] = line.split(' ')
      return { word, rest: rest.join(' ') }
    })

describe('the Containerfile', () => {
  const lines = instructions(read('Containerfile'))
  const of = (word: string): readonly string[] => lines.filter((line) => line.word === word).map(({ rest }) => rest)

  it('copies what there is, and runs scripts that there are', () => {
    const sources = of('COPY')
      .filter((rest) => !rest.startsWith('--from'))
      .flatMap((rest) => rest.split(' ').slice(0, -1))
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([])
    const made = of('COPY')
      .filter((rest) => rest.startsWith('--from'))
      .map((rest) => (rest.split(' ')[1] ?? '').replace('/app/', ''))
    expect(made.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
    const named = of('RUN').flatMap((rest) => [...rest.matchAll(/npm run (\S+)/g)].map(([, name]) => name ?? ''))
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })

  it('sets existing settings, runs as an ordinary user, and keeps secrets out of the image', () => {
    const names = of('ENV').flatMap((rest) => rest.split(' ').map((pair) => pair.split('=')[0] ?? ''))
    expect(names.filter((name) => !known.has(name))).toEqual([])
    expect(of('USER')).toEqual(['node'])
    expect(read('.dockerignore')).toBe(read('.containerignore'))
    expect(read('.containerignore').split('\n')).toEqual(
      expect.arrayContaining(['.git', '.catalograph', 'node_modules']),
    )
  })

  it('has an entry point that serves, and a health check that says whether it does', { timeout: 60_000 }, async () => {
    const [entry = ''] = of('ENTRYPOINT')
    expect(JSON.parse(entry)).toEqual(['node', '/app/dist/compiler/cli.js'])
    const [check = ''] = of('HEALTHCHECK')
    const [, script = ''] = (JSON.parse(check.slice(check.indexOf('['))) as readonly string[]).slice(1)
    const isHealthy = (port: number): boolean => {
      try {
        execFileSync(process.execPath, ['-e', script], { env: { PORT: String(port) } })
        return true
      } catch {
        return false
      }
    }
    const db: TestDatabase = await createDatabase({ prepare: true, sql: 'create table note (id int primary key)' })
    const server = await serveBuilt(db)
    onTestFinished(async () => {
      await server.stop()
      await db.drop()
    })
    expect(isHealthy(server.port)).toBe(true)
    expect(isHealthy(await freePort())).toBe(false)
  })
})

describe('the unit of systemd', () => {
  const unit = read('docs/deploy/catalograph.service')

  it('sets settings that there are, and gives a stopping process its time', () => {
    const names = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, pairs = '']) =>
      pairs.split(' ').map((pair) => pair.split('=')[0] ?? ''),
    )
    expect(names.filter((name) => !known.has(name))).toEqual([])
    const grace = settingKeys.shutdownGraceMs.fallback / 1_000
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(grace + 1)
  })
})

describe('the files for places of others', () => {
  const settingsOf: Readonly<Record<string, (text: string) => readonly string[]>> = {
    'fly.toml': (text) => [...text.matchAll(/^ *([A-Z_]+) = /gm)].map(([, name = '']) => name),
    'render.yaml': (text) => {
      const { services } = parse(text) as {
        readonly services: readonly { readonly envVars: readonly { readonly key: string }[] }[]
      }
      return services.flatMap(({ envVars }) => envVars.map(({ key }) => key))
    },
  }

  it.each(Object.keys(settingsOf))('have settings, probes and an end that the service has (%s)', (file) => {
    const text = read(`docs/deploy/${file}`)
    const names = settingsOf[file]?.(text) ?? []
    expect(names.length).toBeGreaterThan(3)
    expect(names.filter((name) => !known.has(name))).toEqual([])
    expect(text).toMatch(/(?:path|healthCheckPath)(?: = ['"]|: )\/readyz/)
    const drain = Number(/SHUTDOWN_DRAIN_MS(?: = |\n +value: )['"](\d+)/.exec(text)?.[1]) / 1_000
    const end = Number(/^(?:kill_timeout = | +maxShutdownDelaySeconds: )(\d+)$/m.exec(text)?.[1])
    expect(end).toBeGreaterThanOrEqual(drain + settingKeys.shutdownGraceMs.fallback / 1_000 + 2)
    expect(existsSync(join(root, /[Dd]ockerfile(?:Path)?(?: = ['"]|: )(?:\.\/)?(\w+)/.exec(text)?.[1] ?? 'none'))).toBe(
      true,
    )
  })
})

describe('the files for Prometheus and Grafana', () => {
  let names: ReadonlySet<string>
  beforeAll(async () => {
    const ended = { gone: 0, deadline: 0, stopping: 0 }
    const metrics = await createMetrics({
      pool: () => ({ open: 0, idle: 0, waiting: 0, ended }),
      caches: () => null,
      live: () => ({
        streams: 0,
        sockets: 0,
        watches: 0,
        waiting: 0,
        runs: [],
        refused: { party: 0, all: 0, memory: 0 },
        lags: [],
        tables: [],
        fault: null,
      }),
      replicas: () => ({ replicas: [], reads: { primary: 0, replica: 0 } }),
    })
    names = new Set([...(await metrics.text()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? ''))
  })

  it.each(['grafana.json', 'alerts.yaml'])('ask for metrics that there are (%s)', (file) => {
    const asked = [...read(`docs/deploy/${file}`).matchAll(/\b((?:catalograph|nodejs|process)_[a-z0-9_]+)/g)]
    const wanted = asked.map(([, name = '']) => name.replace(/_(?:count|sum|bucket)$/, ''))
    expect(wanted.length).toBeGreaterThan(8)
    expect(wanted.filter((name) => !names.has(name))).toEqual([])
  })

  it('alert by events that there are, each with a row in the runbook', () => {
    const { groups } = parse(read('docs/deploy/alerts.yaml')) as {
      readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
    }
    const rules = groups.flatMap((group) => group.rules)
    const events = rules.flatMap(({ expr }) => /event=~?"([^"]+)"/.exec(expr)?.[1]?.split('|') ?? [])
    const table = read('runtime/settings/log/events.ts')
    expect(events.length).toBeGreaterThan(3)
    expect(events.filter((event) => !table.includes(`'${event}': row`))).toEqual([])
    const rows = [...read('docs/runbook.md').matchAll(/^\| `(Catalograph\w+)` \|/gm)].map(([, name]) => name)
    expect(rows.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
  })
})
