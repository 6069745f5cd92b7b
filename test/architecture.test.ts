import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { ts } from 'ts-morph'
import { describe, expect, it } from 'vitest'

type Floors = readonly (readonly string[])[]

/**
 * The permitted imports: a file imports its own room and rooms of lower floors. `+` joins files to one room. A room with an
 * order of its own has it in `within`.
 */
const floors: Floors = [
  ['runtime/lib', 'runtime/client'],
  ['runtime/contract', 'runtime/settings'],
  ['runtime/sql', 'runtime/identity'],
  ['runtime/engine', 'compiler/catalog'],
  ['runtime/db', 'compiler/comments'],
  ['runtime/http', 'compiler/model'],
  ['runtime/graphql', 'runtime/auth', 'compiler/emit'],
  ['runtime/console', 'compiler/additions'],
  [
    'runtime/database.ts + runtime/app.ts + runtime/stop-service.ts + runtime/server.ts + runtime/main.ts',
    'compiler/compile.ts + compiler/following',
  ],
  ['compiler/commands/advise'],
  ['compiler/commands'],
  ['compiler/cli.ts', 'compiler/server.ts', 'test/reference'],
]

const within: Readonly<Record<string, Floors>> = {
  'runtime/db': [['failures'], ['connect'], ['wire', 'embedded', 'shards'], ['check'], ['pool'], ['replicas']],
  'runtime/graphql': [
    ['protocol'],
    ['operation', 'live/streams'],
    ['http', 'live/changes'],
    ['plan'],
    ['statements', 'variables'],
    ['prepared', 'report'],
    ['run'],
    ['allowlist', 'apart'],
    ['serve.ts', 'live/sockets'],
    ['compiled', 'live/open.ts'],
    ['handler'],
  ],
  'runtime/auth': [
    ['schema', 'protocol'],
    ['settings'],
    ['rules'],
    ['call'],
    ['store'],
    ['secrets', 'providers', 'limits'],
    ['mails', 'io'],
    ['accounts'],
    ['endpoints'],
    ['http'],
  ],
  'compiler/following': [['prepare'], ['serving']],
  'compiler/commands/advise': [
    ['diff', 'report', 'annotate'],
    ['cost', 'doctor'],
  ],
}

/** The rooms of the runtime that the stages of the compiler may use. */
const shared = ['runtime/lib', 'runtime/sql', 'runtime/contract']
const compilerMayAlso: Readonly<Record<string, readonly string[]>> = {
  // The schema of a role is made by the code that validates against it, so that what is printed is what is served.
  'compiler/emit': ['runtime/engine'],
  'compiler/additions': ['runtime/db', 'runtime/engine', 'runtime/graphql'],
  'compiler/compile.ts': ['runtime/engine'],
  'compiler/following': ['runtime/settings', 'runtime/db'],
  // Documents are judged as they are when they are asked.
  'compiler/commands/advise': ['runtime/auth', 'runtime/db', 'runtime/engine', 'runtime/graphql', 'runtime/settings'],
  'compiler/commands': ['runtime'],
  'compiler/cli.ts': ['runtime'],
  'compiler/server.ts': ['runtime'],
}

const rootEntries =
  /^(compiler|runtime|generated|fixtures|bench|test|docs|site|package\.json|package-lock\.json|tsconfig\.json|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|LICENSE|Containerfile|compose\.yaml|\..+)$/

/** Plain functions that the reference package is built with. All else of the product it is handed by the one that is installed. */
const takenByReference: readonly string[] = (
  'compiler/additions/geo/facts.ts compiler/catalog/catalog.ts compiler/catalog/privileges.ts ' +
  'runtime/contract/facts.ts runtime/engine/meaning.ts runtime/lib/json.ts runtime/lib/steps.ts ' +
  'runtime/lib/text.ts runtime/sql/ident.ts'
).split(' ')

const files = tracked().filter(
  (file) =>
    /^(compiler|runtime|test\/reference)\/(?!exact\/).*\.tsx?$/.test(file) &&
    // Sources of created applications.
    !/\/templates\/.*\.tsx?$/.test(file) &&
    !/\.(d|test)\.ts$/.test(file) &&
    existsSync(file),
)
const imports = new Map(files.map((file) => [file, importsOf(file)]))

describe('the house', () => {
  it('has the agreed entries at its root and no others', () => {
    const entries = new Set(tracked().map((file) => file.split('/')[0] ?? file))
    expect([...entries].filter((entry) => !rootEntries.test(entry))).toEqual([])
  })

  it('gives every source file a room', () => {
    expect(files.filter((file) => placeIn(floors, file) === null)).toEqual([])
    const homeless = Object.entries(within).flatMap(([room, inner]) =>
      files.filter((file) => file.startsWith(`${room}/`) && placeIn(inner, file.slice(room.length + 1)) === null),
    )
    expect(homeless).toEqual([])
  })

  it('has at most twelve floors, and a runtime of at most twelve rooms', () => {
    expect([floors, ...Object.values(within)].filter(({ length }) => length > 12)).toEqual([])
    const roomsOf = (folder: string): ReadonlySet<string | undefined> =>
      new Set(
        files.filter((file) => /^\w+\/\w+\//.test(file) && file.startsWith(folder)).map((file) => file.split('/')[1]),
      )
    expect(roomsOf('runtime/').size).toBeLessThanOrEqual(12)
    // The four stages of the pipeline, and three more.
    expect(roomsOf('compiler/').size).toBeLessThanOrEqual(7)
  })

  it('gives a base name to at most three files', () => {
    // Folders of additions have the same files.
    const named = files.filter((file) => !/^(test|compiler\/additions)\//.test(file))
    const names = named.map((file) => file.split('/').at(-1))
    const counts = new Map(names.map((name) => [name, names.filter((other) => other === name).length]))
    expect([...counts].filter(([, count]) => count > 3)).toEqual([])
  })

  it('imports downwards only', () => {
    const upwards = (order: Floors, from: string, to: string): boolean => {
      const [importing, imported] = [placeIn(order, from), placeIn(order, to)]
      return importing?.room !== imported?.room && (importing?.floor ?? 0) <= (imported?.floor ?? 0)
    }
    const inner = Object.entries(within).flatMap(([room, order]) => {
      const inside = (file: string): boolean => file.startsWith(`${room}/`)
      const rest = (file: string): string => file.slice(room.length + 1)
      return edges().filter(([from, to]) => inside(from) && inside(to) && upwards(order, rest(from), rest(to)))
    })
    const wrong = [...edges().filter(([from, to]) => upwards(floors, from, to)), ...inner]
    expect(wrong.map(([from, to]) => `${from} -> ${to}`)).toEqual([])
  })

  it('keeps the runtime free of the compiler', () => {
    const wrong = edges().filter(([from, to]) => from.startsWith('runtime/') && to.startsWith('compiler/'))
    expect(wrong.map(([from, to]) => `${from} -> ${to}`)).toEqual([])
  })

  it('lets the stages of the compiler know only three rooms of the runtime', () => {
    const wrong = edges().filter(([from, to]) => {
      if (!from.startsWith('compiler/') || !to.startsWith('runtime/')) return false
      const own = Object.entries(compilerMayAlso).find(([room]) => from === room || from.startsWith(`${room}/`))
      return ![...shared, ...(own?.[1] ?? [])].some((place) => to.startsWith(`${place}/`))
    })
    expect(wrong.map(([from, to]) => `${from} -> ${to}`)).toEqual([])
  })

  it('keeps the client library an island, which runs where nothing of ours is', () => {
    const isClient = (file: string): boolean => file.startsWith('runtime/client/')
    expect(edges().filter(([from, to]) => isClient(from) !== isClient(to))).toEqual([])
    const isHooks = (file: string): boolean => file.startsWith('runtime/client/react/')
    const packages = files
      .filter(isClient)
      .flatMap((file) =>
        packagesOf(file).flatMap((name) => (isHooks(file) && name === 'react' ? [] : `${file} -> ${name}`)),
      )
    expect(packages).toEqual([])
    expect(edges().filter(([from, to]) => isHooks(to) && !isHooks(from))).toEqual([])
  })

  it('keeps the reference interpreter independent of all that it is held against', () => {
    const isInterpreter = (file: string): boolean => /^test\/reference\/(interpreter|questions)\//.test(file)
    expect(files.some(isInterpreter)).toBe(true)
    expect(edges().filter(([from, to]) => isInterpreter(from) && !isInterpreter(to))).toEqual([])
  })

  it('builds the reference package without what it is held against', () => {
    const built = new Set<string>()
    const build = (file: string): void => {
      if (built.has(file)) return
      built.add(file)
      valuesFrom(file).forEach(build)
    }
    files.filter(isReference).forEach(build)
    expect([...built].filter((file) => !isReference(file)).toSorted()).toEqual(takenByReference)
  })

  it('has no part of the tests in the product', () => {
    const all = [...imports].flatMap(([from, list]) => list.map((to) => [from, to] as const))
    expect(all.filter(([from, to]) => !from.startsWith('test/') && to.startsWith('test/'))).toEqual([])
    const packages = files.filter((file) => !file.startsWith('test/')).flatMap(packagesOf)
    expect(packages.filter((name) => name === '@catalograph/reference')).toEqual([])
  })

  it('keeps what the browser runs of the dashboard to itself', () => {
    const isPage = (file: string): boolean => file.startsWith('runtime/console/page/')
    expect(edges().filter(([from, to]) => isPage(to) && !isPage(from))).toEqual([])
  })

  it('has no circle of imports', () => {
    expect(circles()).toEqual([])
  })

  it('keeps no state in modules, but for what is weakly known of other values', () => {
    const state =
      /^(?:export )?(?:(?:let|var) |const \w+(?:: (?!readonly|Readonly)[^=]+)? = (?:new (?:Map|Set)\b.*\(\)|\[\])$)/m
    // The process that parses SQL, which all compilers of this one share.
    const parser = ['compiler/emit/parse-apart.ts', 'compiler/emit/parser-process.ts']
    expect(files.filter((file) => state.test(readFileSync(file, 'utf8')))).toEqual(parser)
  })

  it('makes nothing in modules that may remember', () => {
    const made = files.flatMap((file) => madeInModule(file).map((call) => `${file} ${call}`))
    expect(made).toEqual([
      // In which order keys stand, whose ever they are.
      'compiler/emit/emit.ts createLru',
      // The grammar of texts, whichever module made them.
      'compiler/emit/sql-parser.ts createLru',
      // Holds no key and gets none.
      'runtime/auth/http/open.ts createKeySet',
      // React's name for what components hand down.
      'runtime/client/react/provider.ts createContext',
      // The same, and the one page of a browser.
      'runtime/console/page/context.tsx createContext',
      'runtime/console/page/main.tsx createRoot',
      // The realm that builders are evaluated in; they leave nothing behind in it.
      'runtime/engine/load.ts createContext',
    ])
  })

  it('remembers only what functions of modules make, which depends on their arguments alone', () => {
    const closures = files.filter((file) => file !== 'runtime/lib/memo/memo.ts').flatMap(rememberedClosures)
    expect(closures).toEqual([])
  })

  // A longer one is a module of functions that take a record of the state.
  it('has no closure over state of more than 80 lines', () => {
    expect(files.filter((file) => !isReference(file)).flatMap(longClosures)).toEqual([])
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

/** Modules that a file imports for more than their types. */
function valuesFrom(file: string): readonly string[] {
  return parse(file, readFileSync(file, 'utf8')).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) return []
    const { importClause, moduleSpecifier } = statement
    const named = importClause?.namedBindings
    const areTypes =
      named !== undefined && ts.isNamedImports(named) && named.elements.every(({ isTypeOnly }) => isTypeOnly)
    if (importClause?.isTypeOnly === true || areTypes || !moduleSpecifier.text.startsWith('.')) return []
    return [normalize(join(dirname(file), moduleSpecifier.text))]
  })
}

/** The modules of the package; `exact` compares it with the product. */
const isReference = (file: string): boolean => /^test\/reference\/(?!exact\/)/.test(file)

/** Calls of `create…` that run when the module is loaded, by name. */
function madeInModule(file: string): readonly string[] {
  const made: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) return
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && /^create[A-Z]/.test(node.expression.text)) {
      made.push(node.expression.text)
    }
    ts.forEachChild(node, visit)
  }
  const text = readFileSync(file, 'utf8')
  if (/\bcreate[A-Z]\w*[<(]/.test(text)) visit(parse(file, text))
  return made
}

const memoMethods: ReadonlySet<string> = new Set([
  'one',
  'of',
  'same',
  'later',
  'each',
  'map',
  'eachLater',
  'table',
  'groups',
])

/** Functions passed to a memo that the module does not declare by name. */
function rememberedClosures(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  if (!/\b(?:memo|shared)\.\w/.test(text)) return []
  const source = parse(file, text)
  const names = new Set(source.statements.flatMap(namesOf))
  return nodesIn(source).flatMap((node) => {
    if (!ts.isCallExpression(node) || !isMemoMethod(node.expression)) return []
    const name = node.arguments[0]?.getText(source) ?? ''
    // A member of a module's constant, or a function for one type, is the module's own as well.
    return names.has(/^\w*/.exec(name)?.[0] ?? '') && /^[\w.]+(?:<\w+>)?$/.test(name) ? [] : `${file} ${name}`
  })
}

/** Functions of more than 80 lines with functions within. */
function longClosures(file: string): readonly string[] {
  const source = parse(file, readFileSync(file, 'utf8'))
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line
  const isLong = (node: ts.Node): boolean => lineOf(node.end) - lineOf(node.getStart(source)) >= 80
  return nodesIn(source)
    .filter((node) => isFunction(node) && isLong(node) && nodesIn(node).some((one) => one !== node && isFunction(one)))
    .map((node) => `${file}:${lineOf(node.getStart(source)) + 1}`)
}

const isFunction = (node: ts.Node): boolean => ts.isFunctionLike(node) && 'body' in node && node.body !== undefined

function nodesIn(node: ts.Node, found: ts.Node[] = []): readonly ts.Node[] {
  found.push(node)
  ts.forEachChild(node, (child) => void nodesIn(child, found))
  return found
}

const isMemoMethod = (node: ts.Node): boolean =>
  ts.isPropertyAccessExpression(node) &&
  ts.isIdentifier(node.expression) &&
  /^(?:memo|shared)$/.test(node.expression.text) &&
  memoMethods.has(node.name.text)

/** The names that a statement of a module declares or imports. */
function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isFunctionDeclaration(statement)) return statement.name === undefined ? [] : [statement.name.text]
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []))
  }
  const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined
  return bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements.map(({ name }) => name.text) : []
}

const parse = (file: string, text: string): ts.SourceFile => ts.createSourceFile(file, text, ts.ScriptTarget.Latest)

function packagesOf(file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true)
  return importedFiles.map(({ fileName }) => fileName).filter((name) => !name.startsWith('.'))
}

/** In which room of an order a file lies, and on which floor; null: in none. */
function placeIn(order: Floors, file: string): { readonly room: string; readonly floor: number } | null {
  for (const [floor, rooms] of order.entries()) {
    const room = rooms.find((one) => one.split(' + ').some((part) => file === part || file.startsWith(`${part}/`)))
    if (room !== undefined) return { room, floor }
  }
  return null
}

function edges(): readonly (readonly [from: string, to: string])[] {
  return [...imports].flatMap(([from, list]) =>
    list.flatMap((to) => (/^(compiler|runtime|test\/reference)\//.test(to) ? [[from, to] as const] : [])),
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
