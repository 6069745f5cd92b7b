import { describe, expect, it } from 'vitest'
import { settingRows } from '../../../runtime/settings/keys.ts'
import { readSettings } from '../../../runtime/settings/read.ts'
import { renderSettings } from '../../../runtime/settings/startup-report.ts'

const problemsOf = (environment: Record<string, string>): readonly string[] => {
  const read = readSettings(environment)
  return read.kind === 'invalid' ? read.problems : []
}

describe('settings', () => {
  it('have defaults for everything but what only the owner can know', () => {
    const read = readSettings({})
    expect(read).toEqual({
      kind: 'settings',
      hints: [],
      settings: {
        accessLog: false,
        docs: null,
        corsOrigins: null,
        pathPrefix: null,
        rateLimit: 0,
        trustedIssuers: null,
        metrics: null,
        slowRequestMs: 0,
        tracing: 0,
        databaseListenUrl: null,
        databaseUrl: null,
        databaseOwnerUrl: null,
        databaseAuthUrl: null,
        replicaUrls: null,
        replicaMaxStalenessMs: 5_000,
        schemas: ['public'],
        poolSize: 8,
        pooler: 'auto',
        authPoolSize: 6,
        requestTimeoutMs: 45_000,
        statementTimeoutMs: null,
        lockTimeoutMs: null,
        jwtSecret: null,
        jwtSecretPrevious: null,
        jwtSecretPreviousUntil: null,
        workers: 1,
        host: '127.0.0.1',
        port: 54_321,
        baseUrl: null,
        smtpUrl: null,
        mailFrom: null,
        addressHeader: null,
        googleIssuer: 'https://accounts.google.com',
        bodyLimitBytes: 1_048_576,
        writeTimeoutMs: 10_000,
        shutdownDrainMs: 0,
        shutdownGraceMs: 10_000,
        liveStreams: 20_000,
        logLevel: 'info',
        dataFolder: '.catalograph',
        embeddedPort: null,
      },
    })
  })

  it('are read from the environment', () => {
    const read = readSettings({
      DATABASE_URL: 'postgres://u:p@db/x',
      DB_SCHEMAS: ' api , public',
      PORT: '0',
      LOG_LEVEL: 'silent',
      HOST: '',
    })
    expect(read).toMatchObject({
      settings: {
        databaseUrl: 'postgres://u:p@db/x',
        schemas: ['api', 'public'],
        port: 0,
        logLevel: 'silent',
        host: '127.0.0.1',
      },
    })
  })

  it('report every problem at once and never repeat a value', () => {
    const problems = problemsOf({
      DATABASE_URL: 'mysql://hunter2',
      JWT_SECRET: 'short-hunter2',
      PORT: '70000',
      DB_POOL_SIZE: '1e3',
      DB_SCHEMAS: 'a,,b',
      LOG_LEVEL: 'loud',
      CATALOGRAPH_DATE: 'x',
    })
    expect(problems).toEqual([
      'DATABASE_URL must be a connection URL such as postgres://user:password@host:5432/database',
      'DB_SCHEMAS must be names separated by commas, none of them empty',
      'DB_POOL_SIZE must be a whole number between 1 and 1000',
      'JWT_SECRET must have at least 32 characters',
      'PORT must be a whole number between 0 and 65535',
      'LOG_LEVEL must be one of debug, info, warn, error, silent',
      'CATALOGRAPH_DATE is not a setting; did you mean CATALOGRAPH_DATA?',
    ])
    expect(problems.join()).not.toContain('hunter2')
  })

  it("hint at names that were mistyped, and leave other programs' names alone", () => {
    const read = readSettings({ JWT_SECRETS: 'x', DATABSE_URL: 'x', HOME: '/', PATH: '/bin', NODE_ENV: 'x', PWD: '/' })
    expect(read).toMatchObject({
      hints: [
        'JWT_SECRETS is not a setting; did you mean JWT_SECRET?',
        'DATABSE_URL is not a setting; did you mean DATABASE_URL?',
      ],
    })
  })

  it('are printed without the value of any secret, good or bad', () => {
    const marker = 'hunter2'
    const environment = Object.fromEntries(
      settingRows.filter(([, key]) => key.secret).map(([, key]) => [key.env, `postgres://${marker.repeat(8)}@h/d`]),
    )
    for (const shown of [renderSettings(environment), renderSettings({ JWT_SECRET: marker, DATABASE_URL: marker })]) {
      expect(shown).not.toContain(marker)
      expect(shown).toContain('(set, not shown)')
    }
    for (const [, key] of settingRows) expect(renderSettings({})).toContain(key.env)
  })
})
