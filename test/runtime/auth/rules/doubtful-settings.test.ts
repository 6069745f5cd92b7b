import { describe, expect, it } from 'vitest'
import { settingWarnings } from '../../../../runtime/auth/rules/doubtful-settings.ts'

const plain = { external_url: null, site_url: 'https://app.example.com', redirect_allow_list: [] }
const namesOf = (settings: object): readonly string[] =>
  settingWarnings({ ...plain, ...settings }).map(({ name }) => name)

describe('a warning about settings', () => {
  it.each([
    '**',
    '*',
    '*://**',
    '*:**',
    '?**',
    'http*://**',
    'http*:**',
    'https://*',
    'https://**',
    'http://**',
    'https://*/**',
    'https://*.*',
    'https://*.*/**',
    'https://*.*.*/cb',
    'https://*.com/**',
    'https://{*,*.*}/**',
    '{http,https}://**',
    'https://[a-z]**',
    'https://[!x]**/cb',
    'https://app.*/cb',
    'https://app.example.com**',
    'https://**.example.com',
    'https://**.example.com/**',
    'https://{app,**.example.com}/cb',
    'http*://*:3000/**',
    '*://home',
  ])('names an entry of the list that strangers meet: %s', (entry) => {
    const [first, ...more] = settingWarnings({ ...plain, redirect_allow_list: ['https://mine.example.com/**', entry] })
    expect(more).toEqual([])
    expect(first).toMatchObject({ name: 'redirect_allow_list', warning: expect.stringContaining(`${entry} allows `) })
  })

  it.each([
    'https://app.example.com',
    'https://app.example.com/**',
    'https://app.example.com/*',
    'https://*.example.com/cb',
    'https://*.*.example.com/**',
    'https://*-team.vercel.app/**',
    'https://{one,two}.example.org/[a-c]?',
    'http://localhost:*/**',
    'http://localhost:5173',
    'http://127.0.0.1:*/callback',
    'http://*.localhost:3000/**',
    'myapp://callback',
    'myapp://**',
    'com.example.app:/*',
    '{**',
    'https://[a**',
    '',
  ])('leaves an entry alone that only the owner meets: %j', (entry) => {
    expect(namesOf({ redirect_allow_list: [entry] })).toEqual([])
  })

  it.each(['http://evil', 'http://project.example.com/auth/v1', 'http://localhost.example.com', 'http://10.0.0.1'])(
    'names an address that is not encrypted: %s',
    (url) => {
      expect(namesOf({ external_url: url, site_url: url })).toEqual(['external_url', 'site_url'])
    },
  )

  it.each([
    'https://a.example',
    'http://localhost:3000',
    'http://127.0.0.1:1/auth/v1',
    'http://[::1]:1',
    'myapp://home',
  ])('leaves an address alone that is encrypted or of the machine itself: %s', (url) => {
    expect(namesOf({ external_url: url, site_url: url })).toEqual([])
  })
})
