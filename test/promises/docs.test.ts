import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Command, parseCommandLine, renderCommandHelp } from '../../compiler/commands/command.ts'
import { completionOf } from '../../compiler/commands/completion.ts'
import { diffCommand } from '../../compiler/commands/diff.ts'
import { product } from '../../compiler/commands/verify.ts'
import { commandOf } from '../reference/command.ts'
import { runCommand } from '../support/command.ts'
import { levelOf, type LogEventKind } from '../../runtime/settings/log/events.ts'
import { authErrors } from '../../runtime/auth/protocol/errors.ts'
import { failureTable } from '../../runtime/http/boundary.ts'
import { failures } from '../../runtime/graphql/protocol/failures.ts'
import { settingKeys } from '../../runtime/settings/keys.ts'
import { startAuthServer, type AuthServer } from '../support/auth.ts'
import {
  additionPages,
  commandsIn,
  demoSql,
  examplesIn,
  readPage,
  refusalOf,
  type Example,
} from '../support/examples.ts'
import { forSuite } from '../support/for-suite.ts'
import { ask, check, converse, curl } from '../support/page-requests.ts'

/** The examples on the pages work unchanged on the demo. Those of the additions are in additions-examples.test.ts. */

const root = fileURLToPath(new URL('../../', import.meta.url))
const pages = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter(
  (page) => page.endsWith('.md'),
)
/** Programs on the pages, and the tests that run them. */
const programs: Readonly<Record<string, readonly string[]>> = {
  'docs/artifacts.md': ['js'],
  'docs/auth.md': ['js'],
  'docs/client.md': ['js', 'js', 'ts'],
  'docs/clients.md': 'ts ts tsx ts tsx ts ts ts ts ts json js ts'.split(' '),
  'docs/workflow.md': ['json', 'yaml'],
  'docs/live.md': ['js'],
  'docs/react.md': ['tsx'],
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'catalograph-docs-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const asked = (example: Example): boolean =>
  /^(sql|graphql)$/.test(example.language) || (example.language === 'sh' && /^ *curl /m.test(example.text))

const onDemo = (): Promise<AuthServer> => startAuthServer({ sql: demoSql() })
/** Of the pages that leave its schema as it is. */
const server = forSuite(onDemo)

describe.each(pages)('%s', (page) => {
  const examples = examplesIn(readPage(page))

  it('has commands that exist', async () => {
    for (const { text } of examples.filter(({ language }) => language === 'sh'))
      for (const words of commandsIn(text)) expect(await problemOf(words), words.join(' ')).toBe(null)
  })

  it('has examples that a test runs', () => {
    const others = examples.map(({ language }) => language).filter((language) => !/^(sh|sql|graphql|)$/.test(language))
    expect(others).toEqual(programs[page] ?? [])
  })

  it.skipIf(additionPages.includes(page) || !examples.some(asked))('shows requests that are answered', async () => {
    const changed = examples.some(({ language }) => language === 'sql') ? await onDemo() : null
    onTestFinished(() => changed?.stop())
    for (const example of examples.filter(asked)) await run(changed ?? server, example)
  })
})

describe('the pages', () => {
  it('are read in ten minutes, and the README on one screen and a half', () => {
    expect(readPage('README.md').split('\n').length).toBeLessThanOrEqual(200)
    const words = pages.map((page) => [page, readPage(page).split(/\s+/).length] as const)
    expect(words.filter(([, count]) => count > 2_600)).toEqual([])
  })

  it('name every setting, command and failure', () => {
    const [operate, commandPage, auth, api] = ['operate', 'commands', 'auth', 'api'].map((page) =>
      readPage(`docs/${page}.md`),
    )
    const missing = (names: readonly string[], text = ''): readonly string[] =>
      names.filter((name) => !text.includes(`\`${name}`))
    expect(
      missing(
        Object.values(settingKeys).map(({ env }) => env),
        `${operate}${auth}`,
      ),
    ).toEqual([])
    expect(missing(Object.keys(failures), api)).toEqual([])
    const commands = [...readPage('compiler/commands/main.ts').matchAll(/^ {2}(\w+): async/gm)].map(([, name]) => name)
    expect(commands.length).toBeGreaterThan(5)
    expect(
      missing(
        commands.map((name) => `catalograph ${name}`),
        commandPage,
      ),
    ).toEqual([])
  })
})

describe('the help of the commands', () => {
  const names = [...readPage('compiler/commands/main.ts').matchAll(/^ {2}(\w+): async/gm)].map(([, name = '']) => name)

  it.each(names)('names commands and options that there are (%s)', async (name) => {
    const command = await commandNamed(name)
    const text = command === undefined ? '' : renderCommandHelp(command)
    expect(text).toContain(`Usage: catalograph ${name}`)
    // Prose may follow a command, and the name of the schema too.
    const shown = [...text.matchAll(/(?<!schema )\bcatalograph (?!with\b)([a-z]+)((?: --[a-z-]+)*)/g)]
    for (const [, word = '', options = ''] of shown) {
      expect([...names, 'help']).toContain(word)
      const known = Object.keys((await commandNamed(word))?.options ?? {})
      expect(known).toEqual(expect.arrayContaining([...options.matchAll(/--([a-z-]+)/g)].map(([, option]) => option)))
    }
  })
})

describe('docs/auth.md', () => {
  it('shows a program that signs a user up', async () => {
    const [program] = examplesIn(readPage('docs/auth.md')).filter(({ language }) => language === 'js')
    expect(await converse(server, program?.text ?? '', folder)).toMatch(/"records":[ ]*\[\{"id":/)
  })
})

describe('docs/live.md', () => {
  it('shows a socket that connects again with the token of the user who signs in', async () => {
    const account = { email: 'live@example.com', password: 'correct horse', email_confirm: true }
    await server.call('POST', '/admin/users', { token: server.serviceRole, body: account })
    const [program] = examplesIn(readPage('docs/live.md')).filter(({ language }) => language === 'js')
    const query = 'subscription { commentCollection(last: 1) { edges { node { id } } } }'
    const use = `
      let answers = 0
      socket.on('connected', () => console.log('connected as', token === apikey ? 'anon' : 'a user'))
      const next = async ({ data }) => {
        console.log(Object.keys(data))
        if (++answers === 2) process.exit()
        await catalograph.auth.signInWithPassword(${JSON.stringify(account)})
      }
      socket.subscribe({ query: ${JSON.stringify(query)} }, { next, error: console.log, complete: () => {} })`
    const printed = await converse(server, `${program?.text}${use}`, folder)
    const answered = "[ 'commentCollection' ]"
    expect(printed.trim().split('\n')).toEqual(['connected as anon', answered, 'connected as a user', answered])
  })
})

describe('docs/runbook.md', () => {
  it('has what to do about each code of GraphQL and HTTP, and no code of auth that is none', () => {
    const page = readPage('docs/runbook.md')
    const codes = [...Object.keys(failures), ...Object.keys(failureTable)]
    expect(codes.filter((code) => !page.includes(`\`${code}\``))).toEqual([])
    const [, section = ''] = /^## Codes of auth\n([^]*?)^## /m.exec(page) ?? []
    const named = [...section.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
      cell.replaceAll('`', '').split(', '),
    )
    expect(named.length).toBeGreaterThan(8)
    expect(named.filter((code) => !Object.hasOwn(authErrors, code))).toEqual([])
  })
})

describe('docs/events.md', () => {
  it('has a row for each event of the log, with its level', () => {
    const kinds = [...readPage('runtime/settings/log/events.ts').matchAll(/^ {2}'?([\w-]+)'?: row\b/gm)]
    const rows = [...readPage('docs/events.md').matchAll(/^\| (`[^|]+) \| (\w+) \| .+ \|$/gm)]
    const shown = rows.flatMap(([, names = '', level]) =>
      [...names.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => `${name} ${level}`),
    )
    const levels = kinds.map(([, kind = '']) => `${kind} ${levelOf(kind as LogEventKind)}`)
    expect(levels.length).toBeGreaterThan(30)
    expect(shown.toSorted()).toEqual(levels.toSorted())
  })
})

describe('an address of Supabase that is not served', () => {
  it('is answered with what is there instead, and a page about it', async () => {
    const { error } = await server.client().from('posts').select()
    expect(error?.message).toContain('There is no REST API (.from, .rpc): send GraphQL to /graphql/v1')
    for (const path of ['rest/v1/posts?select=id', 'storage/v1/object/a', 'functions/v1/f', 'realtime/v1/websocket']) {
      const response = await fetch(`${server.url}/${path}`)
      const { code, message } = (await response.json()) as { code: string; message: string }
      expect([response.status, code]).toEqual([404, 'NOT_FOUND'])
      const [, page = ''] = /\((docs\/\w+\.md)\)\.$/.exec(message) ?? []
      expect(readPage(page)).toContain(`/${path.split('/').slice(0, 2).join('/')}`)
    }
    const other = (await (await fetch(`${server.url}/rest/v2`)).json()) as { message: string }
    expect(other.message).toBe('No resource exists at this address.')
  })
})

describe('docs/your-own-database.md', () => {
  it('shows what diff prints', async () => {
    const examples = examplesIn(readPage('docs/your-own-database.md'))
    const shell = examples.find(({ text }) => text.includes('catalograph diff'))?.text ?? ''
    const shown = examples.find(({ text }) => text.startsWith('migration.sql:'))?.text ?? ''
    const [, migration = ''] = /<<'SQL'\n([^]*?)^SQL$/m.exec(shell) ?? []
    const file = join(folder, 'migration.sql')
    writeFileSync(file, migration)
    const given = commandsIn(shell).at(-1)?.slice(2) ?? []
    const args = given.map((word) => word.replace('migration.sql', file))
    const environment = { DATABASE_URL: server.db.ownerUrl, JWT_SECRET: server.secret }
    const { exitCode, printed, noted } = await runCommand([diffCommand], args, { environment })
    expect(exitCode).toBe(1)
    const lines = `${printed}\n${noted}`.replaceAll(file, 'migration.sql').split('\n')
    for (const line of shown.split('\n').filter((text) => text !== '' && text !== '...')) expect(lines).toContain(line)
  })
})

/** The mistake in a command of a page; null: it can be typed unchanged. */
async function problemOf([program = '', ...words]: readonly string[]): Promise<string | null> {
  if (/^[A-Z_]+=/.test(program)) return problemOf(words)
  // Programs of others, which the machine that runs this need not have.
  if (/^(curl|cat|psql|pg_dump|pg_dumpall|pg_restore|podman|kubectl|helm)$/.test(program)) return null
  if (program === 'node') return existsSync(join(root, words[0] ?? '')) ? null : 'there is no such file'
  if (program === 'export') return problemOfVariable(words[0]?.split('=')[0] ?? '')
  if (program === 'npm') return problemOfScript(words)
  if (program === 'npx' && words[0] === 'catalograph') return problemOfCommand(words.slice(1))
  if (program === 'npx' && /^(vitest|tsc)$/.test(words[0] ?? ''))
    return words.every((word) => !/\.(ts|json)$/.test(word) || existsSync(join(root, word)))
      ? null
      : 'a file is missing'
  return `nobody knows how to check ${program}`
}

const problemOfVariable = (name: string): string | null =>
  Object.values(settingKeys).some(({ env }) => env === name) ? null : `there is no setting ${name}`

function problemOfScript([verb = '', name = '']: readonly string[]): string | null {
  if (verb === 'ci') return null
  const { scripts } = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> }
  return Object.hasOwn(scripts, verb === 'run' ? name : verb) ? null : 'there is no such script'
}

async function problemOfCommand([name = '', ...args]: readonly string[]): Promise<string | null> {
  const command = await commandNamed(name)
  if (command === undefined) return `unknown command ${name}`
  parseCommandLine(command, args)
  return null
}

async function commandNamed(name: string): Promise<Command | undefined> {
  if (name === 'help') return undefined
  if (name === 'completion') return completionOf(async () => [])
  if (name === 'verify') return commandOf(product)
  const module = (await import(`../../compiler/commands/${name}.ts`)) as Readonly<Record<string, Command | undefined>>
  return module[`${name}Command`]
}

async function run(server: AuthServer, { language, text }: Example): Promise<void> {
  if (language === 'sql') return void (await server.db.query(text))
  if (language === 'graphql') return check(await ask(server, { query: text }), refusalOf(text))
  for (const [program, ...words] of commandsIn(text)) if (program === 'curl') await curl(server, words)
}
