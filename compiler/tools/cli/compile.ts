import { withSession } from '../../../runtime/db/connect/session.ts'
import type { Settings } from '../../../runtime/settings/keys.ts'
import { createCompiler } from '../../compile.ts'
import { seenTriggers } from '../../serving/live-triggers.ts'
import type { Compiled } from '../../compile.ts'
import type { Artifacts } from '../../emit/artifacts.ts'
import { diffArtifacts, printDifferences } from '../../emit/diff.ts'
import { writeArtifacts } from '../../emit/write.ts'
import { dump } from '../../report/dump.ts'
import { printDiagnostics } from '../../report/print.ts'
import type { Command, Terminal } from './command.ts'
import { demandRoles, documentsRequest, filesOf, type DocumentsRequest } from './compile/documents-of.ts'
import { exitCodes, misuse } from './command.ts'
import { demandSchemas } from '../../serving/demand-schemas.ts'
import { demand, neededSettingsOf } from './needed-settings.ts'

const defaultFolder = 'generated'

/** What `--dump` can print: every stage's value. */
const stages = {
  catalog: async (compiled: Compiled) => compiled.catalog,
  annotated: async (compiled: Compiled) => compiled.annotated,
  model: async (compiled: Compiled) => compiled.model,
  artifacts: async (compiled: Compiled) => (await compiled.artifacts()).files,
} as const

type Stage = keyof typeof stages

/** Compiles the database once, without writing anything to it. */
export const compileCommand: Command = {
  name: 'compile',
  summary: 'Compile the catalogue into artifacts that can be served without compiling.',
  description:
    'Reads the database of DATABASE_OWNER_URL, or DATABASE_URL, and writes nothing to it. Diagnostics go to standard\n' +
    'error; if one of them is an error, no artifacts are written and the exit code is 1.\n\n' +
    'With --documents it also writes what each document runs for each role: its SQL with parameters, what these are made\n' +
    'of, and what the answer is made of, for no variables, for values of each type, and for the examples beside a\n' +
    'document (NAME.variables.json beside NAME.graphql: an object of variables, or a list of these). A document that a\n' +
    'role cannot ask is an error with file, line and column, in the words of the server.',
  options: {
    out: { value: 'DIR', help: `Folder of the artifacts (default: ${defaultFolder}).` },
    documents: { value: 'GLOB', help: 'Documents to compile as well, such as "src/**/*.graphql".' },
    roles: { value: 'NAMES', help: 'With --documents: roles that ask them, separated by commas (default: anon).' },
    check: { value: null, help: 'Write nothing; fail and show the difference when the folder is out of date.' },
    dump: { value: 'STAGE', help: `Print the value of a stage as JSON instead: ${Object.keys(stages).join(', ')}.` },
  },
  run: async (given, terminal) => {
    const { out, check, dump: dumped } = given
    const stage = stageOf(dumped)
    const request = await documentsRequest(given)
    terminal.stage('Compiling the database')
    const compiled = await compileOnce(neededSettingsOf(terminal), request)
    printCompiled(compiled, terminal)
    if (stage !== null) return printStage(stage, compiled, terminal)
    if (compiled.diagnostics.some(({ severity }) => severity === 'error')) return exitCodes.failed
    const folder = typeof out === 'string' ? out : defaultFolder
    const artifacts = await artifactsOf(compiled, request)
    return check === true ? checkFolder(folder, artifacts, terminal) : writeFolder(folder, artifacts, terminal)
  },
}

function stageOf(given: string | true | undefined): Stage | null {
  if (given === undefined) return null
  const stage = Object.keys(stages).find((name) => name === given)
  if (stage === undefined) throw misuse(`--dump takes one of ${Object.keys(stages).join(', ')}`)
  return stage as Stage
}

function compileOnce(settings: Settings, request: DocumentsRequest | null): Promise<Compiled> {
  const url = settings.databaseOwnerUrl ?? demand(settings, ['databaseUrl']).databaseUrl
  return withSession({ url }, async (query) => {
    await demandSchemas(query, settings.schemas)
    if (request !== null) await demandRoles(query, request)
    return createCompiler({ query, schemas: settings.schemas, version: null, triggers: seenTriggers }).compile()
  })
}

function printCompiled({ diagnostics, timings }: Compiled, terminal: Terminal): void {
  const text = printDiagnostics(diagnostics).trimEnd()
  if (text !== '') terminal.note(text)
  terminal.note(timings.map(({ stage, ms }) => `${stage} ${ms.toFixed(0)} ms`).join(', '))
}

async function printStage(stage: Stage, compiled: Compiled, terminal: Terminal): Promise<number> {
  terminal.print(dump(await stages[stage](compiled)).trimEnd())
  return exitCodes.done
}

/** Rejects with CommandFailure for documents that cannot be asked. */
async function artifactsOf(compiled: Compiled, request: DocumentsRequest | null): Promise<Artifacts> {
  const artifacts = await compiled.artifacts()
  if (request === null) return artifacts
  return { ...artifacts, files: { ...artifacts.files, ...filesOf(compiled.revision, request) } }
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
