import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSettings } from '../../../runtime/settings/read.ts'
import { renderSettings } from '../../../runtime/settings/startup-report.ts'

const folder = mkdtempSync(join(tmpdir(), 'catalograph-settings-'))
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const secret = 'a secret that has more than thirty-two characters'

test('settings come from a file, from files of their own, and first from the environment', () => {
  const secretFile = file('secret', `${secret}\n`)
  const config = file('settings', `# a comment\nPORT=7000\nLOG_LEVEL="warn"\nJWT_SECRET_FILE=${secretFile}\n`)
  const environment = { CATALOGRAPH_CONFIG: config, PORT: '7001', HOST: '' }
  expect(readSettings(environment)).toMatchObject({
    kind: 'settings',
    hints: [],
    settings: { port: 7001, logLevel: 'warn', jwtSecret: secret, host: '127.0.0.1' },
  })
  expect(renderSettings(environment)).toMatch(/LOG_LEVEL +warn/)
  expect(renderSettings(environment)).not.toContain(secret)
})

test.each([
  [{ CATALOGRAPH_CONFIG: '/nowhere' }, 'CATALOGRAPH_CONFIG cannot be read: /nowhere (ENOENT)'],
  [{ JWT_SECRET_FILE: '/nowhere' }, 'JWT_SECRET_FILE cannot be read: /nowhere (ENOENT)'],
  [{ JWT_SECRET: secret, JWT_SECRET_FILE: '/nowhere' }, 'JWT_SECRET and JWT_SECRET_FILE are both set'],
  [{ CATALOGRAPH_CONFIG: file('strange', 'PROT=1') }, `${join(folder, 'strange')}: PROT is not a setting`],
])('%j is a problem, reported in one sentence', (environment, problem) => {
  expect(readSettings(environment)).toEqual({ kind: 'invalid', problems: [problem] })
})

test.each([
  ['METRICS', 'on', { metrics: 'here' }],
  ['METRICS', '127.0.0.1:9464', { metrics: { host: '127.0.0.1', port: 9464 } }],
  ['METRICS', '[::1]:9464', { metrics: { host: '::1', port: 9464 } }],
  ['TRACING', 'on', { tracing: 1 }],
  ['TRACING', '0.25', { tracing: 0.25 }],
  ['CORS_ORIGINS', 'https://a.example, http://b:1', { corsOrigins: ['https://a.example', 'http://b:1'] }],
  ['PATH_PREFIX', '/api/', { pathPrefix: '/api' }],
  [
    'TRUSTED_ISSUERS',
    '[{"issuer":"https://id.example","audience":"app"}]',
    { trustedIssuers: [{ issuer: 'https://id.example', audience: 'app', roles: ['authenticated'], jwks: null }] },
  ],
])('%s takes %s', (name, text, settings) => {
  expect(readSettings({ [name]: text })).toMatchObject({ kind: 'settings', settings })
})

test.each([
  ['METRICS', 'yes'],
  ['METRICS', '127.0.0.1:70000'],
  ['TRACING', 'true'],
  ['TRACING', '1.5'],
  ['TRACING', '10%'],
  ['CORS_ORIGINS', 'https://a.example/path'],
  ['CORS_ORIGINS', '*'],
  ['PATH_PREFIX', 'api'],
  ['TRUSTED_ISSUERS', '{}'],
  ['TRUSTED_ISSUERS', '[{"issuer":"https://id.example"}]'],
  ['TRUSTED_ISSUERS', '[{"issuer":"https://id.example","audience":"app","roles":["service_role"]}]'],
  ['TRUSTED_ISSUERS', '[{"issuer":"https://id.example","audience":"app","role":"x"}]'],
])('%s does not take %s', (name, text) => {
  expect(readSettings({ [name]: text })).toMatchObject({ kind: 'invalid', problems: [expect.stringContaining(name)] })
})
