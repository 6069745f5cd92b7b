import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { settingKeys } from '../../runtime/settings/keys.ts'
import { readSettings } from '../../runtime/settings/read.ts'
import { titled, unlessThere } from '../support/programs.ts'

/** The Helm chart of docs/deploy: its values by their schema, and where the program `helm` is there, what it renders. */

const chart = new URL('../../docs/deploy/helm', import.meta.url).pathname
const read = (file: string): string => readFileSync(join(chart, file), 'utf8')

type Values = Readonly<Record<string, unknown>>

const least: Values = { image: { repository: 'registry.example.com/catalograph' }, secret: { name: 'catalograph' } }
const most: Values = {
  ...least,
  replicas: 3,
  strategy: 'Recreate',
  secret: { name: 'mine', keys: ['DATABASE_URL', 'JWT_SECRET', 'DATABASE_OWNER_URL'] },
  settings: { BODY_LIMIT_BYTES: 104_857_600, SHUTDOWN_GRACE_MS: 20_000, CORS_ORIGINS: 'https://a.example.com' },
  ingress: { enabled: true, className: 'nginx', host: 'api.example.com', tlsSecret: 'certificate' },
  metrics: { enabled: true, podMonitor: { enabled: true, labels: { team: 'data' } } },
}

/** As helm merges what is given with the defaults. */
const merged = (given: unknown, defaults: unknown): unknown =>
  isObject(given) && isObject(defaults)
    ? Object.fromEntries(
        [...new Set([...Object.keys(defaults), ...Object.keys(given)])].map((key) => [
          key,
          key in given ? merged(given[key], defaults[key]) : defaults[key],
        ]),
      )
    : given

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

describe('values', () => {
  const isValid = new Ajv({ strict: false }).compile(JSON.parse(read('values.schema.json')) as object)
  const allows = (values: Values): boolean => isValid(merged(values, parse(read('values.yaml'))))

  it('are those of the schema, with an image and a secret that the owner names', () => {
    expect(allows(least)).toBe(true)
    expect(allows(most)).toBe(true)
    expect(allows({})).toBe(false)
    expect(allows({ ...least, secret: { name: 'mine', keys: ['DATABASE_URL'] } })).toBe(false)
    expect(allows({ ...least, replica: 2 })).toBe(false)
    expect(allows({ ...least, settings: { PORT: 80 } })).toBe(false)
    expect(allows({ ...least, ingress: { enabled: true } })).toBe(false)
  })

  it('are of the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(chart, '../../../package.json'), 'utf8')) as { version: string }
    expect(parse(read('Chart.yaml'))).toMatchObject({ version, appVersion: version })
  })
})

interface Rendered {
  readonly kind: string
  readonly spec: Readonly<Record<string, unknown>>
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[]
}

const missing = unlessThere('helm', 'version')

describe.skipIf(missing !== null)(titled('the chart that helm renders', missing), () => {
  let folder: string
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'catalograph-helm-'))))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const helm = (command: readonly string[], values: Values): string => {
    const file = join(folder, 'values.json')
    writeFileSync(file, JSON.stringify(values))
    const args = [...command, chart, '--kube-version', '1.30.0', '--values', file]
    return execFileSync('helm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  }
  const render = (values: Values): readonly Rendered[] =>
    parseAllDocuments(helm(['template', 'mine'], values)).map((document) => document.toJS() as Rendered)
  const deploymentOf = (values: Values): Rendered =>
    render(values).find(({ kind }) => kind === 'Deployment') as Rendered
  const podOf = (values: Values) =>
    (deploymentOf(values).spec['template'] as { readonly spec: Readonly<Record<string, unknown>> }).spec
  const containerOf = (values: Values) => (podOf(values)['containers'] as readonly Container[])[0] as Container

  it('passes its linter', () => {
    expect(helm(['lint', '--strict'], least)).toContain('0 chart(s) failed')
    expect(helm(['lint', '--strict'], most)).toContain('0 chart(s) failed')
    expect(() => helm(['lint'], {})).toThrow()
  })

  it('has the objects that are asked for, and no more', () => {
    const kindsOf = (values: Values) =>
      render(values)
        .map(({ kind }) => kind)
        .sort()
    const always = ['Deployment', 'PodDisruptionBudget', 'Service']
    expect(kindsOf(least)).toEqual(always)
    expect(kindsOf(most)).toEqual([...always, 'Ingress', 'PodMonitor'].sort())
  })

  it.each([
    ['the least', least],
    ['the most', most],
  ])('runs as nobody special on a file system that is not written to, and is asked how it is: %s', (_, values) => {
    const pod = podOf(values)
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(containerOf(values)).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      livenessProbe: { httpGet: { path: '/livez', port: 'http' } },
      readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
    })
  })

  it('sets settings that the service reads, secrets from files, and gives a stopping process its time', () => {
    const { env } = containerOf(most)
    writeFileSync(join(folder, 'DATABASE_URL'), 'postgres://user@localhost/app')
    writeFileSync(join(folder, 'DATABASE_OWNER_URL'), 'postgres://owner@localhost/app')
    writeFileSync(join(folder, 'JWT_SECRET'), 'a secret that has more than thirty-two characters')
    const here = env.map(({ name, value }) => [name, value.replace('/run/secrets/catalograph', folder)] as const)
    expect(readSettings(Object.fromEntries(here))).toMatchObject({
      kind: 'settings',
      hints: [],
      settings: {
        host: '0.0.0.0',
        port: 54_321,
        metrics: { host: '0.0.0.0', port: 9_464 },
        bodyLimitBytes: 104_857_600,
        databaseOwnerUrl: 'postgres://owner@localhost/app',
      },
    })
    expect(podOf(most)['terminationGracePeriodSeconds']).toBeGreaterThan(20 + 1 + 5)
    const usualGrace = settingKeys.shutdownGraceMs.fallback / 1_000
    expect(podOf(least)['terminationGracePeriodSeconds']).toBeGreaterThan(usualGrace + 1 + 5)
  })
})
