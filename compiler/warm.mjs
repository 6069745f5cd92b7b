import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import v8 from 'node:v8'

// Keeps the code that V8 makes of the command line while servers start (tools/cli/parts.ts): one of the demo's artifacts and one of
// compiled documents, without a database. Run by bundle.mjs, in a process of its own: it has the code of a process that just started.

const built = new URL('../dist/compiler/', import.meta.url)
const { codeToKeep, createLoadPart } = await import(new URL('tools/cli/parts.js', built))
const { documentsFormat, documentsIndex } = await import(new URL('../runtime/graphql/compiled/format.js', built))
const { withSeal } = await import(new URL('../runtime/graphql/compiled/found.js', built))

// V8 takes code only under the flags under which it was made: those that a process starts with.
v8.setFlagsFromString = () => undefined

/** Artifacts without any document. */
async function writeNoDocuments(folder) {
  const revision = '0'.repeat(16)
  const manifest = {
    holders: [],
    roles: {},
    readsClaims: false,
    leaves: [],
    distributed: false,
    limits: {},
    allowlists: [],
  }
  const index = {
    format: documentsFormat,
    revision,
    examples: {},
    manifest,
    needs: {},
    watched: {},
    variables: {},
    types: {},
    roles: {},
  }
  await mkdir(join(folder, revision, 'documents'), { recursive: true })
  await writeFile(join(folder, revision, documentsIndex), withSeal(`${JSON.stringify(index, null, 2)}\n`))
  await writeFile(join(folder, 'current.json'), JSON.stringify({ revision }))
}

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** Resolves when a server has answered, be it that it has no schema yet. */
async function answered(port) {
  for (const until = performance.now() + 60_000; ; await pause(20))
    try {
      const body = JSON.stringify({ query: '{ __typename }' })
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`http://127.0.0.1:${port}/graphql/v1`, { method: 'POST', headers, body })
      return await answer.text()
    } catch (error) {
      if (performance.now() > until) throw error
    }
}

const parts = []
const folder = await mkdtemp(join(tmpdir(), 'catalograph-warm-'))
try {
  await writeNoDocuments(folder)
  const load = createLoadPart(fileURLToPath(built), (part) => parts.push(part))
  const { runCommandLine } = load('part-main.cjs')
  const demo = fileURLToPath(new URL('../generated', import.meta.url))
  const shared = {
    HOST: '127.0.0.1',
    LOG_LEVEL: 'error',
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    JWT_SECRET: randomBytes(32).toString('hex'),
  }
  for (const args of [
    ['--artifacts', folder, '--only-compiled'],
    ['--artifacts', demo],
  ]) {
    const port = await freePort()
    Object.assign(process.env, shared, { PORT: String(port) })
    void runCommandLine(['serve', ...args])
    await answered(port)
  }
  for (const part of parts) {
    const { file, content } = codeToKeep(part)
    await writeFile(file, content)
  }
} finally {
  await rm(folder, { recursive: true })
}
process.exit(0)
