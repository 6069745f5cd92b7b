import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../support/record.ts'

/** An application with the client library and a generated client in `db/`. */
export const createApplication = (folder: string): void => {
  mkdirSync(join(folder, 'node_modules/@catalograph'), { recursive: true })
  symlinkSync(join(projectFolder, 'runtime/client'), join(folder, 'node_modules/@catalograph/client'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const [name, text] of Object.entries(uses)) writeFileSync(join(folder, `${name}.ts`), text)
}

const head = `import { createClient } from '@catalograph/client'
const client = createClient('https://project.example.com', 'key')
`

const typical = `
const listed = await table.list({
  filter: { c0: { eq: 'x' }, c3: { gt: '2024-01-01' } }, orderBy: [{ c1: 'AscNullsLast' }], first: 10,
  select: { id: true, c0: true, c3: true, tab_4: { id: true, c0: true, tab_2: { c0: true } } },
})
const paged = await table.page({ first: 5, select: { rows: { id: true, c2: true }, pageInfo: { endCursor: true } } })
const added = await table.insert({ objects: [{ c0: 'x', c4: true }], select: { affectedCount: true, records: { id: true } } })
export const texts: readonly (string | null | undefined)[] = [
  listed.data?.[0]?.c0, listed.data?.[0]?.tab_4?.tab_2?.c0, paged.data?.rows[0]?.c2, added.data?.records[0]?.id,
]
`

/** The imports by which `table` is a table's client. */
const imports = {
  table: `${head}import { tab_9 } from './db/tables/tab_9.js'\nconst table = tab_9(client)\n`,
  database: `${head}import { createDb } from './db/db.js'\nconst { tab_9: table } = createDb(client)\n`,
} as const

/** The uses of a client in a file. The first is the baseline without it. */
const uses = {
  unrelated: `${head}export const answer = await client.graphql<{ readonly n: number }>('{ n }')\n`,
  table: imports.table + typical,
  database: imports.database + typical,
} as const

export type Use = keyof typeof uses
export const useNames = Object.keys(uses) as readonly Use[]

/** The open file of an editor. */
export type EditorUse = keyof typeof imports
export const editorUses = Object.keys(imports) as readonly EditorUse[]

interface Unfinished {
  readonly text: string
  /** The position of the next name; both count from 0. */
  readonly at: { readonly line: number; readonly character: number }
  /** A name that is valid there. */
  readonly offered: string
}

/** A file with an incomplete selection, two relations deep. */
export const unfinished = (use: EditorUse): Unfinished => {
  const line = 'const listed = await table.list({ first: 10, select: { id: true, tab_4: { tab_2: { c0: true, '
  return {
    text: `${imports[use]}${line} } } } })\n`,
    at: { line: imports[use].split('\n').length - 1, character: line.length },
    offered: 'c1',
  }
}

/** The compiler's statistics about one file and its imports. */
export interface Checked {
  readonly files: number
  readonly instantiations: number
  readonly types: number
  readonly memoryMb: number
  readonly parseMs: number
  readonly checkMs: number
  readonly totalMs: number
}

export const compilerOptions = {
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  target: 'es2022',
  module: 'nodenext',
  types: [],
  lib: ['ES2023', 'DOM'],
} as const

const flags = Object.entries(compilerOptions).flatMap(([name, value]) => [`--${name}`, String(value)])

/** Throws if the compiler reports an error. */
export const check = (folder: string, use: Use): Checked => {
  const args = [...flags, '--extendedDiagnostics', `${use}.ts`]
  const tsc = join(projectFolder, 'node_modules/.bin/tsc')
  const { stdout, status } = spawnSync(tsc, args, { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(stdout)
  const value = (name: string): number => Number(new RegExp(`^${name}:\\s+([\\d.]+)`, 'm').exec(stdout)?.[1])
  return {
    files: value('Files'),
    instantiations: value('Instantiations'),
    types: value('Types'),
    memoryMb: value('Memory used') / 1_024,
    parseMs: value('Parse time') * 1_000,
    checkMs: value('Check time') * 1_000,
    totalMs: value('Total time') * 1_000,
  }
}
