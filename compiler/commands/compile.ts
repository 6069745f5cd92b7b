import type { Definitions } from '../../runtime/db/check/definitions.ts'
import { allDefinitions } from '../../runtime/db/check/fits.ts'
import { withSession } from '../../runtime/db/connect/session.ts'
import type { Settings } from '../../runtime/settings/keys.ts'
import { createCompiler, type Compiled } from '../compile.ts'
import { documentTasks, earlierIn, nothingEarlier } from './compiled/compile-documents.ts'
import { makeTogether } from './compiled/together.ts'
import { seenTriggers } from '../following/serving/live-triggers.ts'
import type { Artifacts } from '../emit/artifacts.ts'
import { diffArtifacts, printDifferences } from '../emit/diff.ts'
import { writeArtifacts } from '../emit/disk.ts'
import { dump } from '../catalog/diagnostics/dump.ts'
import { printDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { type Command, type GivenOptions, type Terminal, exitCodes, misuse, textOption } from './command.ts'
import {
  documentsRequest,
  filesOf,
  listSql,
  takeDocuments,
  type DocumentsRequest,
  type TakenDocuments,
} from './compile/documents-of.ts'
import { writeOut } from './given-documents.ts'
import { demandSchemas } from '../following/serving/followed-source.ts'
import { packageVersion } from '../../runtime/lib/package.ts'
import { demand, neededSettingsOf } from './needed-settings.ts'

const defaultFolder = 'generated'

/** The possible values of `--dump`: every stage. */
const stages = {
  catalog: async (compiled: Compiled) => compiled.catalog,
  annotated: async (compiled: Compiled) => compiled.annotated,
  model: async (compiled: Compiled) => compiled.model,
  artifacts: async (compiled: Compiled) => (await compiled.artifacts()).files,
} as const

type Stage = keyof typeof stages

export const compileCommand: Command = {
  name: 'compile',
  summary: 'Compile the catalogue into artifacts, from which to serve.',
  description:
    'Reads the database of DATABASE_OWNER_URL, or DATABASE_URL, and writes nothing to it. Diagnostics go to standard\n' +
    'error; if one of them is an error, no artifacts are written and the exit code is 1.\n\n' +
    'With --documents it also writes what each document runs for each role: its SQL with parameters, what these are made\n' +
    'of, and what the answer is made of, for no variables, for values of each type, and for the examples beside a\n' +
    'document (NAME.variables.json beside NAME.graphql: an object of variables, or a list of these), and the SQL to be\n' +
    'read as documents/NAME.ROLE.sql, once for roles that run the same. A document that a\n' +
    'role cannot ask is an error with file, line and column, in the words of the server. With --allowlist it takes the\n' +
    'documents of the allow-list; one that only some of its roles can ask is compiled for these. A line for each\n' +
    'operation says for which forms of variables a server of compiled documents will refuse it.',
  options: {
    out: { value: 'DIR', help: `Folder of the artifacts (default: ${defaultFolder}).` },
    documents: { value: 'GLOB', help: 'Documents to compile as well, such as "src/**/*.graphql".' },
    allowlist: { value: null, help: 'Compile the documents of the allow-list instead.' },
    roles: {
      value: 'NAMES',
      help: 'Roles that ask the documents, separated by commas (default: anon; with --allowlist those of the list).',
    },
    examples: { value: 'FILE', help: 'More examples of variables, as JSON: by name of an operation or by hash.' },
    'list-sql': { value: 'FILE', help: 'Also write the SQL that puts the documents on the allow-list.' },
    check: { value: null, help: 'Write nothing; fail and show the difference when the folder is out of date.' },
    dump: { value: 'STAGE', help: `Print the value of a stage as JSON instead: ${Object.keys(stages).join(', ')}.` },
  },
  run: async (given, terminal) => {
    const { out, check, dump: dumped } = given
    const stage = stageOf(dumped)
    const request = await documentsRequest(given)
    const listFile = textOption(given, 'list-sql')
    if (check === true && listFile !== null) throw misuse('--check writes nothing; --list-sql writes a file')
    terminal.stage('Compiling the database')
    const once = await compileOnce(neededSettingsOf(terminal), request, terminal)
    const { compiled, taken } = once
    if (stage !== null) return printStage(stage, compiled, terminal)
    if (hasErrors(compiled)) return exitCodes.failed
    const folder = typeof out === 'string' ? out : defaultFolder
    const artifacts = await artifactsOf(once, terminal, check === true ? null : folder)
    if (check === true) return checkFolder(folder, artifacts, terminal)
    if (listFile !== null && taken !== null)
      await writeOut(listFile, listSql(compiled.revision.manifest, taken), '--list-sql')
    return writeFolder(folder, artifacts, terminal)
  },
}

function stageOf(given: GivenOptions[string]): Stage | null {
  if (given === undefined) return null
  const stage = Object.keys(stages).find((name) => name === given)
  if (stage === undefined) throw misuse(`--dump takes one of ${Object.keys(stages).join(', ')}`)
  return stage as Stage
}

/** The database, and the documents that are compiled with it; null: none. */
interface CompiledOnce {
  readonly compiled: Compiled
  readonly definitions: Definitions
  readonly taken: TakenDocuments | null
}

function compileOnce(settings: Settings, request: DocumentsRequest | null, terminal: Terminal): Promise<CompiledOnce> {
  const url = settings.databaseOwnerUrl ?? demand(settings, ['databaseUrl']).databaseUrl
  return withSession({ url }, async (query) => {
    await demandSchemas(query, settings.schemas)
    // Concurrent changes make documents outdated, not wrong.
    const definitions = request === null ? new Map() : await allDefinitions(query)
    const compiler = createCompiler({ query, schemas: settings.schemas, version: null, triggers: seenTriggers })
    const compiled = await compiler.compile()
    printCompiled(compiled, terminal)
    if (request === null || hasErrors(compiled)) return { compiled, definitions, taken: null }
    return { compiled, definitions, taken: await takeDocuments(query, compiled.revision.manifest, request) }
  })
}

const hasErrors = ({ diagnostics }: Compiled): boolean => diagnostics.some(({ severity }) => severity === 'error')

function printCompiled({ diagnostics, timings }: Compiled, terminal: Terminal): void {
  const text = printDiagnostics(diagnostics).trimEnd()
  if (text !== '') terminal.note(text)
  terminal.note(timings.map(({ stage, ms }) => `${stage} ${ms.toFixed(0)} ms`).join(', '))
}

async function printStage(stage: Stage, compiled: Compiled, terminal: Terminal): Promise<number> {
  terminal.print(dump(await stages[stage](compiled)).trimEnd())
  return exitCodes.done
}

/**
 * @param before the folder with previous output to reuse; null: everything is made again. Rejects with CommandFailure
 * for documents that cannot be answered.
 */
async function artifactsOf(
  { compiled, definitions, taken }: CompiledOnce,
  terminal: Terminal,
  before: string | null,
): Promise<Artifacts> {
  const version = await packageVersion()
  const { revision } = compiled
  const earlier = before === null || taken === null ? nothingEarlier : earlierIn(before, revision.id, version)
  const making = taken === null ? null : makeTogether(revision, documentTasks(taken.roles, taken.documents, earlier))
  const artifacts = await compiled.artifacts({ version, before })
  if (taken === null || making === null) return artifacts
  const make = await making()
  const { files, kept } = filesOf(revision, taken, terminal, { version, earlier, definitions, make })
  return { ...artifacts, files: { ...artifacts.files, ...files }, kept: new Set([...kept, ...(artifacts.kept ?? [])]) }
}

async function checkFolder(folder: string, artifacts: Artifacts, terminal: Terminal): Promise<number> {
  const differences = await diffArtifacts(folder, artifacts)
  if (differences.length === 0) return exitCodes.done
  terminal.print(printDifferences(differences).trimEnd())
  terminal.note(`catalograph: ${folder} is out of date; run catalograph compile --out ${folder}`)
  return exitCodes.failed
}

async function writeFolder(folder: string, artifacts: Artifacts, terminal: Terminal): Promise<number> {
  await writeArtifacts(folder, artifacts)
  terminal.print(`${folder}/${artifacts.revision.id}`)
  return exitCodes.done
}
