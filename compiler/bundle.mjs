import { execFileSync } from 'node:child_process'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { parseAst } from 'rolldown/parseAst'

// Bundles our own modules into dist/compiler/cli.js and the parts that it loads when they are needed, and each of the threads that
// read documents into a file. Node takes half a millisecond for each of hundreds of modules. Of packages those go in that every
// server loads, with what they load; others stay what npm installed. Run by `npm run build`.

const built = new URL('../dist/compiler/', import.meta.url)
const part = 'part-'

// What those load for what is not used here: their own schemas and log, requests without a socket, drivers in C.
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

/** @param packages those that go in */
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

/** Ascii alone: V8 keeps a text with any other character in twice the space. What is not stands in strings and comments. */
const inAscii = (code) =>
  code.replace(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Places of `import()` in a tree. */
const importsIn = (node) =>
  node === null || typeof node !== 'object'
    ? []
    : [...(node.type === 'ImportExpression' ? [node.start] : []), ...Object.values(node).flatMap(importsIn)]

/** What is left of `import()` is what the loader of the parts hands over (tools/cli/parts.ts). */
const withImportModule = (code) =>
  importsIn(parseAst(code))
    .toSorted((a, b) => b - a)
    .reduce((text, start) => `${text.slice(0, start)}importModule${text.slice(start + 'import'.length)}`, code)

const bundle = await open('main', 'tools/cli/main.ts', [
  'fastify',
  'jose',
  'lossless-json',
  'otplib',
  'pg',
  'qr',
  'typebox',
  'ws',
])
for (const name of await readdir(built)) if (name.startsWith(part)) await rm(new URL(name, built))
const { output } = await bundle.generate({
  format: 'cjs',
  entryFileNames: `${part}[name].cjs`,
  chunkFileNames: `${part}[name]-[hash].cjs`,
})
await bundle.close()
// Beside the entry: the paths of import.meta.url mean the same in all of them.
for (const { fileName, code } of output) await writeFile(new URL(fileName, built), withImportModule(inAscii(code)))

const entry = await open('cli', 'cli.ts', [])
const { output: loading } = await entry.write({
  dir: fileURLToPath(built),
  format: 'es',
  entryFileNames: '[name].js',
  chunkFileNames: `${part}[name].js`,
})
await entry.close()

// cli.ts looks at the version of Node, and sets NODE_ENV before packages look at it; imports come before all else of a file.
for (const { isEntry, imports } of loading)
  if (isEntry && imports.length > 0) throw new Error(`the command line loads ${imports.join(', ')} at once`)

// A thread is started without the modules that the process has: what reads long documents anew whenever it was not asked for a
// while, what compiles documents with each compile of many.
const threads = ['runtime/graphql/apart/worker.ts', 'compiler/tools/compiled/document-thread.ts']
for (const path of threads) {
  const file = basename(path, '.ts')
  const thread = await open(file, `../${path}`, ['graphql', 'lossless-json'])
  await thread.write({ dir: fileURLToPath(new URL(`../${dirname(path)}/`, built)), format: 'es', codeSplitting: false })
  await thread.close()
}

// In a process of its own, as a server is. Where none can be started, as without a loopback interface or a folder for temporary
// files, the command line is whole without that code, and only starts later.
const warm = fileURLToPath(new URL('warm.mjs', import.meta.url))
const { PATH, TMPDIR } = process.env
const env = { PATH, ...(TMPDIR !== undefined && { TMPDIR }) }
try {
  execFileSync(process.execPath, [warm], { env, stdio: ['ignore', 'ignore', 'inherit'], timeout: 180_000 })
} catch (error) {
  process.stderr.write(`catalograph: the build keeps no code of V8: ${error.message}\n`)
}
