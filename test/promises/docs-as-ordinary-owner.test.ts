import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { annotateCommand } from '../../compiler/commands/annotate.ts'
import { authCommand } from '../../compiler/commands/auth.ts'
import { doctorCommand } from '../../compiler/commands/doctor.ts'
import { keysCommand } from '../../compiler/commands/keys.ts'
import { prepareCommand } from '../../compiler/commands/prepare.ts'
import { mailsTo } from '../support/auth.ts'
import { runCommand } from '../support/command.ts'
import { commandsIn, demoSql, examplesIn, readPage } from '../support/examples.ts'
import { createOwnedDatabase, type OwnedDatabase } from '../support/owned-database.ts'
import { converse, curl } from '../support/page-requests.ts'
import { keys, whileServed } from '../support/while-served.ts'
import { lawMajors } from '../support/whole.ts'

/**
 * The pages for a database of one's own, in their order, as an owner who is not a superuser, and the requests to auth, whose demo this owner
 * loads. The output of other commands for the demo is left to docs.test.ts.
 */

const commands = [annotateCommand, authCommand, doctorCommand, keysCommand, prepareCommand]
const onTheDemo = /curl |catalograph (?:diff|cost|compile)/

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const signingKey = { ...privateKey.export({ format: 'jwk' }), kid: 'first', alg: 'ES256', key_ops: ['sign'] }

const inputOf = (words: readonly string[]): string =>
  words.includes('jwt_keys') ? JSON.stringify({ keys: [signingKey] }) : 'a secret'

describe.each(lawMajors())('the pages for a database of one’s own, on PostgreSQL %i', (major) => {
  let owned: OwnedDatabase
  let folder: string
  let environment: Record<string, string>
  /** Of the key that was made last. */
  let keyId = ''
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'catalograph-walk-'))
    symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'))
    owned = await createOwnedDatabase(major)
    environment = {}
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await owned?.drop()
  })

  const asOwner = async (text: string): Promise<void> => {
    const client = new pg.Client(owned.ownerUrl)
    await client.connect()
    await client.query(text).finally(() => client.end())
  }
  /** The values that the pages leave to their reader. */
  const values = (): Readonly<Record<string, string>> => ({
    DATABASE_URL: owned.loginUrl,
    DATABASE_OWNER_URL: owned.ownerUrl,
    JWT_SECRET: 'a secret that has more than thirty-two characters',
  })
  const served = (visit: Parameters<typeof whileServed>[2]): Promise<unknown> =>
    whileServed(
      { url: environment['DATABASE_URL'] ?? '', ownerUrl: environment['DATABASE_OWNER_URL'] ?? '' },
      {},
      visit,
    )

  const shell = async (words: readonly string[]): Promise<void> => {
    if (words[0] === 'export') {
      const name = words[1]?.split('=')[0] ?? ''
      environment[name] = values()[name] ?? `no value for ${name}`
    } else if (words[0] === 'psql') {
      await asOwner(words.at(-1) ?? '')
    } else if (words[2] === 'serve') {
      await served(async () => undefined)
    } else {
      const args = words
        .slice(2)
        .map((word) => word.replace('names.sql', join(folder, 'names.sql')).replace(/^ID$/, keyId))
      const { exitCode, printed, noted } = await runCommand(commands, args, { environment, input: inputOf(words) })
      // Before anything is prepared, doctor finds what is missing.
      const expected = words[2] === 'doctor' ? 1 : 0
      expect([words.join(' '), exitCode], `${printed}\n${noted}`).toEqual([words.join(' '), expected])
      if (words[3] === 'add') keyId = printed.split(/\s+/)[2] ?? ''
    }
  }

  it.each(['docs/your-own-database.md', 'docs/auth.md'])('hold for %s', { timeout: 120_000 }, async (page) => {
    environment = { ...values(), ...environment }
    for (const { language, text } of examplesIn(readPage(page))) {
      if (language === 'sql') await asOwner(text)
      if (language === 'sh' && !onTheDemo.test(text)) for (const words of commandsIn(text)) await shell(words)
      if (language === 'graphql')
        await served(async ({ graphql }) => {
          const answer = await graphql(text)
          expect(await answer.text()).toContain('"title":')
        })
    }
  })

  it('docs/auth.md, what it asks of a server', { timeout: 60_000 }, async () => {
    await asOwner(demoSql())
    const mails = (recipient: string) => mailsTo(owned.superuser, recipient)
    const examples = examplesIn(readPage('docs/auth.md'))
    await served(async ({ url }) => {
      const server = { url, anon: keys.anon, mails }
      for (const { language, text } of examples) {
        if (language === 'js') expect(await converse(server, text, folder)).toMatch(/"records":[ ]*\[\{"id":/)
        if (language !== 'sh') continue
        for (const [program, ...words] of commandsIn(text)) if (program === 'curl') await curl(server, words)
      }
    })
  })
})
