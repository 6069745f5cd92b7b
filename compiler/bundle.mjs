import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

// Bundles our own modules into dist/compiler/cli.js and the parts that it loads on demand, and each of the threads that
// read documents into a file. Node takes half a millisecond for each of hundreds of modules. The bundle includes
// packages that every server loads, with their dependencies; others stay as npm installed them. Run by `npm run build`.

const built = new URL('../dist/compiler/', import.meta.url)
const part = 'part-'

// Unused dependencies of those: their own schemas and log, requests without a socket, drivers in C.
const unused = new Set([
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'pino',
  'light-my-request',
  'pg-native',
  'bufferutil',
  'utf-8-validate',
])

const isFile = (id) => id.startsWith('.') || id.startsWith('/')
const isOfPackage = (importer) => importer?.includes('/node_modules/') === true

/** @param packages the bundled ones */
const open = (name, path, packages) => {
  const bundled = new Set(packages)
  return rolldown({
    input: { [name]: fileURLToPath(new URL(path, import.meta.url)) },
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    external: (id, importer) =>
      isBuiltin(id) || unused.has(id) || !(isFile(id) || bundled.has(id) || isOfPackage(importer)),
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(`${path} cannot be bundled: ${log.message}`)
    },
  })
}

const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** ASCII only: V8 keeps a text with any other character in twice the space; they occur only in strings and comments. */
const inAscii = {
  name: 'in-ascii',
  generateBundle: (_options, chunks) => {
    for (const chunk of Object.values(chunks)) chunk.code = chunk.code.replace(/[^\0-\x7f]/g, escaped)
  },
}

for (const name of await readdir(built)) if (name.startsWith(part)) await rm(new URL(name, built))
const bundle = await open('cli', 'cli.ts', ['fastify', 'jose', 'lossless-json', 'otplib', 'pg', 'qr', 'typebox', 'ws'])
// Beside the entry: import.meta.url has the same meaning in all of them.
const { output } = await bundle.write({
  dir: fileURLToPath(built),
  format: 'es',
  entryFileNames: '[name].js',
  chunkFileNames: `${part}[name]-[hash].js`,
  plugins: [inAscii],
})
await bundle.close()

// cli.ts checks the version of Node, and sets NODE_ENV before packages read it; imports precede everything else in a
// file.
for (const { isEntry, imports } of output)
  if (isEntry && imports.length > 0) throw new Error(`the command line loads ${imports.join(', ')} at once`)

// A thread starts without the modules of the process: the reader of long documents after each idle time, the compiler
// of documents with each large compile.
const threads = ['compiler/additions/reading-thread.ts', 'compiler/commands/compiled/document-thread.ts']
for (const path of threads) {
  const file = basename(path, '.ts')
  const thread = await open(file, `../${path}`, ['graphql', 'lossless-json'])
  await thread.write({ dir: fileURLToPath(new URL(`../${dirname(path)}/`, built)), format: 'es', codeSplitting: false })
  await thread.close()
}

// For metrics. A tarball of the sources has no history, and then there is no revision.
const described = ['describe', '--always', '--dirty', '--exclude', '*', '--abbrev=12']
const cwd = fileURLToPath(new URL('..', import.meta.url))
const { stdout } = spawnSync('git', described, { cwd, encoding: 'utf8' })
await writeFile(
  new URL('../dist/revision', import.meta.url),
  existsSync(join(cwd, '.git')) ? (stdout ?? '').trim() : '',
)
