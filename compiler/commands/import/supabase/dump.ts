import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { splitSql } from '../../advise/diff/script.ts'
import { misuse } from '../../command.ts'
import { readGiven } from '../../given-documents.ts'
import { isHook, type RoleSetting, type RoleUse, type SupabaseProject } from './project.ts'

/** Rows of a COPY of a plain dump. */
interface CopiedTable {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** `supabase db dump` writes roles, schema and data to files of their own; in this order. */
const order = ['roles', 'schema', 'data']
const fileOrder = (name: string): number => {
  const place = order.findIndex((word) => name.includes(word))
  return place < 0 ? 1 : place
}

/** The text of a plain dump, or of all files of a folder. @throws CommandFailure that names the file */
export function readDump(path: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  const names = isFolder ? readdirSync(path).filter((name) => name.endsWith('.sql')) : []
  if (isFolder && names.length === 0) throw misuse(`--dump: ${path} holds no .sql file`)
  const files = isFolder
    ? names.toSorted((a, b) => fileOrder(a) - fileOrder(b)).map((name) => join(path, name))
    : [path]
  return files
    .map((file) => {
      const text = readGiven(file, '--dump')
      if (text.startsWith('PGDMP'))
        throw misuse(`--dump: ${file} is an archive of pg_dump; make a text of it: pg_restore --file dump.sql ${file}`)
      return text
    })
    .join('\n')
}

const bare = (name: string): string => name.replaceAll('"', '')

/** Rows are not SQL: they are taken out, so that no quote in them is read as one. */
function takeCopies(text: string): { readonly sql: string; readonly copies: readonly CopiedTable[] } {
  const copies: CopiedTable[] = []
  const pattern = /^COPY ([^\s(]+)\s*\(([^)]*)\) FROM stdin;\r?\n([^]*?)^\\\.\r?$/gim
  const sql = text.replaceAll(pattern, (_, table: string, columns: string, rows: string) => {
    const lines = rows.split(/\r?\n/).filter((line) => line !== '')
    copies.push({
      table: bare(table),
      columns: columns.split(',').map((one) => bare(one.trim())),
      rows: lines.map((line) => line.split('\t')),
    })
    return ''
  })
  return { sql, copies }
}

const name = '(?:"[^"]+"|[\\w$]+)'
const path = `${name}(?:\\.${name})*`
const bareNames = (text: string): readonly string[] => text.split(',').map((one) => bare(one.trim()))

interface Pattern {
  readonly use: RoleUse
  readonly pattern: RegExp
}

/** Of statements without their constants. */
const rolePatterns: readonly Pattern[] = [
  {
    use: 'policies',
    pattern: new RegExp(`^CREATE POLICY .*? TO (${name}(?:\\s*,\\s*${name})*)(?: USING| WITH CHECK|$)`, 'i'),
  },
  { use: 'owners', pattern: new RegExp(`^ALTER .* OWNER TO (${name})$`, 'i') },
  {
    use: 'grants',
    pattern: new RegExp(`^GRANT .* TO (${name}(?:\\s*,\\s*${name})*)(?: WITH .*| GRANTED BY .*)?$`, 'i'),
  },
  { use: 'grants', pattern: new RegExp(`^ALTER DEFAULT PRIVILEGES .* TO (${name}(?:\\s*,\\s*${name})*)$`, 'i') },
  { use: 'owners', pattern: new RegExp(`^ALTER DEFAULT PRIVILEGES FOR ROLE (${name}) `, 'i') },
]

/** Names in quotes may hold the quotes of constants. */
const withoutConstants = (text: string): string =>
  text.replaceAll(/"(?:[^"]|"")*"|'(?:[^']|'')*'|(\$\w*\$)[^]*?\1/g, (found) => (found.startsWith('"') ? found : "''"))

/** Words that stand for other roles. */
const noRole = new Set(['public', 'current_user', 'session_user', 'current_role'])

function rolesIn(statements: readonly string[]): SupabaseProject['roles'] {
  const roles = new Map<string, Set<RoleUse>>()
  for (const text of statements.map(withoutConstants))
    for (const { use, pattern } of rolePatterns)
      for (const role of bareNames(pattern.exec(text)?.[1] ?? ''))
        if (role !== '' && !noRole.has(role.toLowerCase())) roles.set(role, (roles.get(role) ?? new Set()).add(use))
  return roles
}

const distinctMatches = (statements: readonly string[], pattern: RegExp): readonly string[] => [
  ...new Set(statements.flatMap((text) => bare(pattern.exec(text)?.[1] ?? '') || [])),
]

function roleSettingsIn(statements: readonly string[]): readonly RoleSetting[] {
  const pattern = new RegExp(
    `^ALTER ROLE (${name})(?: IN DATABASE ${name})? SET ("[^"]+"|[\\w.]+) (?:TO|=) ([^]*)$`,
    'i',
  )
  return statements.flatMap((text) => {
    const [, role, setting, value] = pattern.exec(text) ?? []
    return role === undefined ? [] : [{ role: bare(role), name: bare(setting ?? ''), value: (value ?? '').trim() }]
  })
}

const hooksIn = (statements: readonly string[]): readonly string[] =>
  statements.flatMap((text) => {
    const [, found = '', args = ''] =
      new RegExp(`^CREATE (?:OR REPLACE )?FUNCTION (${path})\\s*\\(([^)]*)\\)`, 'i').exec(text) ?? []
    const full = bare(found)
    return isHook(full.slice(full.indexOf('.') + 1), args) ? [full] : []
  })

/** The project that a plain dump of pg_dump or of `supabase db dump` describes. */
export function projectOfDump(text: string): SupabaseProject {
  const { sql, copies } = takeCopies(text)
  const statements = splitSql(sql).map((statement) => statement.text.replaceAll(/\s+/g, ' '))
  const rowsOfTable = (table: string): readonly (readonly string[])[] =>
    copies.filter((one) => one.table === table).flatMap(({ rows }) => rows)
  const cells = (table: string, column: string): readonly string[] =>
    copies
      .filter((one) => one.table === table)
      .flatMap(({ columns, rows }) => rows.map((row) => row[columns.indexOf(column)] ?? ''))
  const providers = new Map<string, number>()
  for (const provider of cells('auth.identities', 'provider'))
    providers.set(provider, (providers.get(provider) ?? 0) + 1)
  const tables = distinctMatches(statements, new RegExp(`^CREATE TABLE (?:IF NOT EXISTS )?(${path})`, 'i'))
  return {
    roles: rolesIn(statements),
    roleSettings: roleSettingsIn(statements),
    extensions: distinctMatches(statements, new RegExp(`^CREATE EXTENSION (?:IF NOT EXISTS )?(${name})`, 'i')),
    authTables: tables.filter((table) => table.startsWith('auth.')),
    users: copies.length === 0 ? null : rowsOfTable('auth.users').length,
    providers,
    hooks: hooksIn(statements),
    buckets: cells('storage.buckets', 'id'),
    realtime: distinctMatches(
      statements,
      new RegExp(`^ALTER PUBLICATION "?supabase_realtime"? ADD TABLE (?:ONLY )?(${path})`, 'i'),
    ),
    webhooks: distinctMatches(
      statements.filter((text) => /EXECUTE FUNCTION "?(?:supabase_functions"?\."?http_request|net"?\.)/i.test(text)),
      new RegExp(`^CREATE (?:OR REPLACE )?(?:CONSTRAINT )?TRIGGER (${name})`, 'i'),
    ),
    cronJobs: cells('cron.job', 'jobname'),
    secrets: rowsOfTable('vault.secrets').length,
    eventTriggers: distinctMatches(statements, new RegExp(`^CREATE EVENT TRIGGER (${name})`, 'i')),
  }
}
