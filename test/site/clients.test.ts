import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ts } from 'ts-morph'
import { describe, expect, it, onTestFinished } from 'vitest'
import { scalarNames } from '../../runtime/contract/scalar-names.ts'
import { packageFolder } from '../../runtime/lib/package.ts'
import { startAuthServer } from '../support/auth.ts'
import { demoSql, examplesIn, readPage } from '../support/examples.ts'
import { forSuite } from '../support/for-suite.ts'
import { converse } from '../support/page-requests.ts'
import { snippetsOf, writeSnippets } from '../support/snippets.ts'

/** The snippets of docs/clients.md. */

const snippets = snippetsOf('docs/clients.md')
/** The socket of docs/live.md, which they import. */
const socket = `${examplesIn(readPage('docs/live.md')).find(({ language }) => language === 'js')?.text}export { socket }\n`

describe('the snippets on clients', () => {
  const server = forSuite(startAuthServer, { sql: demoSql() })

  it('have pages of Apollo, queries of Relay, streams of both, and the user of the cookies of a request', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'catalograph-clients-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    symlinkSync(join(packageFolder(), 'node_modules'), join(folder, 'node_modules'))
    const project = `export const [url, anonKey] = ${JSON.stringify([server.url, server.anon])}`
    const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
    const printed = [...snippets].flatMap(([name, text]) =>
      /(?:catalograph|apollo|relay|server)\.[jt]s$/.test(name)
        ? [[name.replace(/ts$/, 'js'), ts.transpileModule(text, { compilerOptions: options }).outputText] as const]
        : [],
    )
    const files = [
      ...printed,
      ['src/project.js', project],
      ['src/socket.js', socket.replace('http://127.0.0.1:54321', server.url)],
    ]
    writeSnippets(folder, [...files, ['package.json', '{"type":"module"}']] as [string, string][])
    const account = { email: 'cookies@example.com', password: 'correct horse', email_confirm: true }
    await server.call('POST', '/admin/users', { token: server.serviceRole, body: account })
    const use = `
      import { gql } from '@apollo/client/core'
      import { createServerClient } from '@supabase/ssr'
      import { apollo } from './src/apollo.js'
      import { environment } from './src/relay.js'
      import { graphqlFor } from './src/server.js'

      const page = 'postCollection(first: 2, after: $after) { edges { cursor node { nodeId title } } pageInfo { hasNextPage endCursor } }'
      const query = gql('query Posts($after: Cursor) { ' + page + ' }')
      const watched = apollo.watchQuery({ query })
      await new Promise((next) => watched.subscribe(({ data }) => data && next()))
      const { endCursor } = watched.getCurrentResult().data.postCollection.pageInfo
      await watched.fetchMore({ variables: { after: endCursor } })
      console.log('apollo', apollo.readQuery({ query }).postCollection.edges.length)

      const text = 'subscription { commentCollection(last: 1) { edges { node { nodeId } } } }'
      await new Promise((next) => apollo.subscribe({ query: gql(text) }).subscribe({ next }))
      console.log('apollo watches')
      const operation = (text, operationKind) => ({ text, operationKind, id: null, name: 'Relay', metadata: {} })
      const network = environment.getNetwork()
      const asked = network.execute(operation('query Relay { postCollection(first: 1) { edges { cursor } } }', 'query'), {}, {})
      console.log('relay', (await asked.toPromise()).data.postCollection.edges.length)
      await network.execute(operation('subscription Relay { commentCollection(last: 1) { edges { cursor } } }', 'subscription'), {}, {}).toPromise()
      console.log('relay watches')

      const jar = new Map()
      const cookies = {
        getAll: () => [...jar].map(([name, value]) => ({ name, value })),
        setAll: (all) => all.forEach(({ name, value }) => jar.set(name, value)),
      }
      const own = '{ bookmarkCollection { edges { cursor } } }'
      await graphqlFor(cookies)(own).catch(({ message }) => console.log(message.slice(0, 18)))
      const { auth } = createServerClient('${server.url}', '${server.anon}', { cookies })
      await auth.signInWithPassword(${JSON.stringify(account)})
      console.log(Object.keys(await graphqlFor(cookies)(own)))
      process.exit()`
    const lines = (await converse(server, use, folder)).trim().split('\n')
    const expected = [
      'apollo 4',
      'apollo watches',
      'relay 1',
      'relay watches',
      'Cannot query field',
      "[ 'bookmarkCollection' ]",
    ]
    expect(lines).toEqual(expected)
  })

  it('give GraphQL Code Generator every scalar that GraphQL has not', () => {
    const [, block = ''] = /scalars: \{([^]*?)\}/.exec(snippets.get('codegen.ts') ?? '') ?? []
    const named = [...block.matchAll(/(\w+): (?:text|'unknown')/g)].map(([, name]) => name)
    const builtIn = ['ID', 'Int', 'Float', 'String', 'Boolean']
    expect(named.toSorted()).toEqual(scalarNames.filter((name) => !builtIn.includes(name)).toSorted())
  })

  it.skipIf(process.env['SITE'] !== '1')(
    'fit the types of the libraries (npm run test:docs)',
    { timeout: 120_000 },
    () => {
      // Within the project that has the libraries, and below the root, which has the others.
      const folder = mkdtempSync(join(packageFolder(), 'test/site/clients/snippets-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const checked = [...snippets].filter(([name]) => name !== 'codegen.ts')
      const compilerOptions = {
        ...{ strict: true, noEmit: true, skipLibCheck: true, allowJs: true, jsx: 'react-jsx' },
        ...{ module: 'esnext', moduleResolution: 'bundler', target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'] },
        types: ['node'],
      }
      writeSnippets(folder, [
        ...checked,
        ['src/socket.js', `// @ts-nocheck\n${socket}`],
        ['tsconfig.json', JSON.stringify({ compilerOptions, include: ['**/*'] })],
      ])
      expect(checked.length).toBeGreaterThan(9)
      const tsc = join(packageFolder(), 'node_modules/.bin/tsc')
      expect(outputOf(tsc, ['-p', folder])).toBe('')
    },
  )
})

function outputOf(program: string, args: readonly string[]): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8' })
  } catch (error) {
    return String((error as { readonly stdout: string }).stdout)
  }
}
