import { fieldLosses, printDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { exitCodes, misuse, textOption, type Command, type Terminal } from './command.ts'
import { writeOut } from './given-documents.ts'
import { neededSettingsOf, ownerUrl } from './needed-settings.ts'
import { printImported, type Imported } from './import/imported.ts'
import type { Importer } from './import/importer.ts'
import { applyStatements, tryStatements } from './import/trial.ts'

/** Loaded when it is named: the help of all commands needs none. */
const importers: Readonly<Record<string, () => Promise<Importer>>> = {
  supabase: async () => (await import('./import/supabase/supabase-importer.ts')).fromSupabase,
  hasura: async () => (await import('./import/hasura/hasura-importer.ts')).fromHasura,
  postgraphile: async () => (await import('./import/postgraphile/postgraphile-importer.ts')).fromPostgraphile,
}

export const importCommand: Command = {
  name: 'import',
  summary: 'Move in from Supabase, Hasura or PostGraphile: print SQL.',
  description:
    'supabase --dump FILE|--from URL: roles that a dump of a hosted project needs, settings to reset, and the steps of the\n' +
    'move, with the errors of a restore that do not matter.\n' +
    'hasura METADATA: a folder of metadata (version 2 or 3) or an exported file. Prints roles, grants, policies and comments\n' +
    'for review, each below the permission that it comes from, and at the end what is not carried.\n' +
    'postgraphile [TAGS]: smart tags of the comments in the database, and of a file such as postgraphile.tags.json5, as\n' +
    'settings in comments.\n' +
    'The SQL is tried on the database of DATABASE_OWNER_URL, or DATABASE_URL, in a transaction that is rolled back.\n' +
    'With --compare, documents of each role are answered there, too, and have to have the rows of before.\n\n' +
    'Exit codes: 0 done, 1 the SQL fails or rows differ, 2 wrong use.',
  takes: 'supabase | hasura METADATA | postgraphile [TAGS]',
  options: {
    dump: { value: 'FILE', help: 'Supabase: a plain dump, or a folder of roles.sql, schema.sql and data.sql.' },
    from: { value: 'URL', help: 'Supabase: the old database itself, which documents of --compare are asked of, too.' },
    out: { value: 'FILE', help: 'Write the SQL to this file instead.' },
    apply: { value: null, help: 'Run it in one transaction, if the trial succeeds and no rows differ.' },
    role: {
      value: 'OLD=NEW',
      repeated: true,
      help: 'Hasura: another name for a role; anonymous, public and unauthenticated are anon, user is authenticated.',
    },
    source: { value: 'NAME', help: 'Hasura: the source to import, if there are several.' },
    compare: {
      value: 'FILE',
      help: 'Callers and documents whose rows have to stay the same: a JSON file, or a folder of them.',
    },
    endpoint: { value: 'URL', help: 'Ask the old server at this URL what the rows were.' },
    'admin-secret': { value: 'TEXT', help: 'Hasura: the admin secret; better in HASURA_GRAPHQL_ADMIN_SECRET.' },
  },
  run: async (given, terminal, [name = '', ...args]) => {
    const load = Object.hasOwn(importers, name) ? importers[name] : undefined
    if (load === undefined) throw misuse(`import needs one of: ${Object.keys(importers).join(', ')}`)
    const settings = neededSettingsOf(terminal)
    const place = { settings, url: await ownerUrl(settings), args }
    const { imported, schemas, asking } = await (await load())(given, place, terminal)
    await write(imported, textOption(given, 'out'), terminal)
    terminal.stage('Trying the SQL in a transaction that is rolled back')
    const { compiled, differences, documents } = await tryStatements(place.url, schemas, imported.statements, asking)
    noteDiagnostics(printDiagnostics(compiled.diagnostics.filter(({ severity }) => severity === 'error')), terminal)
    noteLosses(compiled.diagnostics.filter(({ code }) => fieldLosses.has(code)).length, terminal)
    noteSchemas(schemas, settings.schemas, terminal)
    for (const { role, document, difference } of differences)
      terminal.note(`catalograph: ${role}, ${document}: ${difference}`)
    if (asking.length > 0) terminal.note(`catalograph: ${documents} documents compared, ${differences.length} differ`)
    if (differences.length > 0) return exitCodes.failed
    if (given['apply'] !== true) {
      terminal.note('catalograph: the SQL runs; nothing was changed')
      return exitCodes.done
    }
    await applyStatements(place.url, imported.statements)
    terminal.note(`catalograph: ${imported.statements.length} statements applied`)
    return exitCodes.done
  },
}

async function write(imported: Imported, out: string | null, terminal: Terminal): Promise<void> {
  const text = printImported(imported)
  if (out === null) terminal.print(text)
  else {
    await writeOut(out, `${text}\n`)
    terminal.note(`catalograph: ${imported.summary} ${imported.left.length} things are not carried; ${out} lists them.`)
  }
}

function noteDiagnostics(text: string, terminal: Terminal): void {
  if (text.trim() !== '') terminal.note(text.trimEnd())
}

function noteLosses(count: number, terminal: Terminal): void {
  if (count > 0) terminal.note(`catalograph: ${count} names collide afterwards; catalograph annotate resolves them`)
}

function noteSchemas(needed: readonly string[], served: readonly string[], terminal: Terminal): void {
  if (needed.some((schema) => !served.includes(schema)))
    terminal.note(`catalograph: serve these schemas, too: DB_SCHEMAS=${needed.join(',')}`)
}
