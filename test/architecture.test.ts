import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { ts } from 'ts-morph'
import { describe, expect, it } from 'vitest'

/** Who may import whom: a file imports rooms of its own rank or below, and the two rivers meet only at the bank. */
const ranks: Readonly<Record<string, number>> = {
  'runtime/lib': 0,
  'runtime/contract': 0,
  'runtime/client': 0,
  'runtime/sql': 1,
  'runtime/settings': 1,
  'runtime/log': 1,
  'runtime/db': 2,
  'runtime/identity': 2,
  'runtime/http': 2,
  'compiler/report': 2,
  'runtime/engine': 3,
  'compiler/catalog': 3,
  'compiler/prepare': 3,
  'runtime/graphql': 4,
  'runtime/auth': 4,
  'runtime/admin': 5,
  'runtime/dashboard': 5,
  'compiler/comments': 4,
  'compiler/model': 5,
  'runtime/app.ts': 6,
  'compiler/emit': 6,
  'compiler/codegen': 7,
  'runtime/main.ts': 7,
  'compiler/compile.ts': 8,
  'compiler/diff': 8,
  'compiler/cost': 8,
  'compiler/verify': 8,
  'compiler/follow.ts': 8,
  'compiler/commands': 9,
  'compiler/cli.ts': 10,
}

/** What the compiler targets (the bank), and what only its entry points and commands wire together. */
const bank = ['runtime/lib', 'runtime/sql', 'runtime/contract']
const compilerMayAlso: Readonly<Record<string, readonly string[]>> = {
  // The schema of a role is made by the code that validates against it, so that what is printed is what is served.
  'compiler/emit': ['runtime/engine'],
  'compiler/prepare': ['runtime/db'],
  'compiler/follow.ts': ['runtime/log', 'runtime/db'],
  'compiler/compile.ts': ['runtime/engine'],
  // Documents are judged as they are when they are asked.
  'compiler/diff': ['runtime/db', 'runtime/engine', 'runtime/graphql'],
  'compiler/cost': ['runtime/db', 'runtime/engine', 'runtime/graphql'],
  'compiler/verify': ['runtime/db', 'runtime/engine', 'runtime/graphql'],
}

const rootEntries =
  /^(compiler|runtime|generated|fixtures|bench|test|docs|package\.json|package-lock\.json|tsconfig\.json|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|LICENSE|\..+)$/

const files = tracked().filter(
  (file) => /^(compiler|runtime)\/.*\.tsx?$/.test(file) && !file.endsWith('.d.ts') && existsSync(file),
)
const imports = new Map(files.map((file) => [file, importsOf(file)]))

describe('the house', () => {
  it('has the agreed entries at its root and no others', () => {
    const entries = new Set(tracked().map((file) => file.split('/')[0] ?? file))
    expect([...entries].filter((entry) => !rootEntries.test(entry))).toEqual([])
  })

  it('gives every source file a room', () => {
    expect(files.filter((file) => roomOf(file) === null)).toEqual([])
  })

  it('imports downwards only', () => {
    const upward = edges().filter(([from, to]) => rankOf(from) < rankOf(to))
    expect(upward.map(([from, to]) => `${from} -> ${to}`)).toEqual([])
  })

  it('keeps the runtime free of the compiler', () => {
    const wrong = edges().filter(([from, to]) => from.startsWith('runtime/') && to.startsWith('compiler/'))
    expect(wrong.map(([from, to]) => `${from} -> ${to}`)).toEqual([])
  })

  it('lets the stages of the compiler know only the bank of the runtime', () => {
    const wrong = edges().filter(([from, to]) => {
      if (!from.startsWith('compiler/') || !to.startsWith('runtime/')) return false
      const room = roomOf(from) ?? ''
      if (room === 'compiler/cli.ts' || room === 'compiler/commands') return false
      return ![...bank, ...(compilerMayAlso[room] ?? [])].includes(roomOf(to) ?? '')
    })
    expect(wrong.map(([from, to]) => `${from} -> ${to}`)).toEqual([])
  })

  it('keeps the client library an island, which runs where nothing of ours is', () => {
    const isClient = (file: string): boolean => file.startsWith('runtime/client/')
    expect(edges().filter(([from, to]) => isClient(from) !== isClient(to))).toEqual([])
    const packages = files.filter(isClient).flatMap((file) => packagesOf(file).map((name) => `${file} -> ${name}`))
    expect(packages).toEqual([])
  })

  it('keeps the reference interpreter independent of all that it is held against', () => {
    const isReference = (file: string): boolean => /^compiler\/verify\/(interpreter|questions)\//.test(file)
    expect(edges().filter(([from, to]) => isReference(from) && !isReference(to))).toEqual([])
  })

  it('keeps what the browser runs of the dashboard to itself', () => {
    const isPage = (file: string): boolean => file.startsWith('runtime/dashboard/page/')
    expect(edges().filter(([from, to]) => isPage(to) && !isPage(from))).toEqual([])
  })

  it('has no circle of imports', () => {
    expect(circles()).toEqual([])
  })

  it('keeps no state in modules, but for what is weakly known of other values', () => {
    const state = /^(?:export )?(?:(?:let|var) |const \w+(?:: (?!readonly|Readonly)[^=]+)? = (?:new (?:Map|Set)\b.*\(\)|\[\])$)/m
    // The process that parses SQL, which all compilers of this one share.
    const parser = ['compiler/emit/parse-apart.ts', 'compiler/emit/parser-process.ts']
    expect(files.filter((file) => state.test(readFileSync(file, 'utf8')))).toEqual(parser)
  })

  it('has no barrels', () => {
    expect(files.filter((file) => file.endsWith('/index.ts'))).toEqual([])
  })

  it('keeps generated artifacts free of imports', () => {
    const generated = tracked().filter((file) => /^generated\/.*\.cjs$/.test(file) && existsSync(file))
    const importing = generated.filter((file) => /\brequire\s*\(|^\s*import\s/m.test(readFileSync(file, 'utf8')))
    expect(importing).toEqual([])
  })
})

function tracked(): readonly string[] {
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  return list.split('\n').filter((file) => file !== '')
}

function importsOf(file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true)
  return importedFiles.flatMap(({ fileName }) =>
    fileName.startsWith('.') ? [normalize(join(dirname(file), fileName))] : [],
  )
}

function packagesOf(file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true)
  return importedFiles.map(({ fileName }) => fileName).filter((name) => !name.startsWith('.'))
}

function roomOf(file: string): string | null {
  const candidates = [file, file.split('/').slice(0, 2).join('/')]
  return candidates.find((candidate) => candidate in ranks) ?? null
}

function rankOf(file: string): number {
  return ranks[roomOf(file) ?? ''] ?? 0
}

function edges(): readonly (readonly [from: string, to: string])[] {
  return [...imports].flatMap(([from, list]) =>
    list.flatMap((to) => (to.startsWith('compiler/') || to.startsWith('runtime/') ? [[from, to] as const] : [])),
  )
}

function circles(): readonly string[] {
  const found = new Set<string>()
  const state = new Map<string, 'open' | 'done'>()
  const path: string[] = []
  const visit = (file: string): void => {
    state.set(file, 'open')
    path.push(file)
    for (const next of imports.get(file) ?? []) {
      if (state.get(next) === 'open') found.add([...path.slice(path.indexOf(next)), next].join(' -> '))
      else if (!state.has(next)) visit(next)
    }
    path.pop()
    state.set(file, 'done')
  }
  for (const file of files) if (!state.has(file)) visit(file)
  return [...found]
}
