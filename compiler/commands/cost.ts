import { withDatabase, type Database } from '../../runtime/db/pool/pool.ts'
import { createEngine } from '../additions/engine.ts'
import { reasonOf } from '../../runtime/db/failures/failures.ts'
import { createCompiler } from '../compile.ts'
import {
  parseCertificate,
  printCertificate,
  type Certificate,
  compareCosts,
  printCostComparison,
  printCosts,
} from './advise/cost/certificate.ts'
import type { GivenDocument } from './advise/diff/document-changes.ts'
import { measure } from './advise/cost/measure.ts'
import { readSizes } from './advise/cost/plan-facts.ts'
import {
  type Command,
  type GivenOptions,
  type Terminal,
  CommandFailure,
  exitCodes,
  misuse,
  namesOption,
  numberOption,
  textOption,
} from './command.ts'
import { demandReadable } from './demand-readable.ts'
import { demandRole } from './demand-role.ts'
import { documentOptions, namedDocuments, readGiven, writeOut } from './given-documents.ts'
import { neededSettingsOf, loginDatabase } from './needed-settings.ts'

export const costCommand: Command = {
  name: 'cost',
  summary: 'Print what documents cost before they run.',
  description:
    'Reads plans from the database of DATABASE_URL (without it that of DATABASE_OWNER_URL, or the embedded one) for each\n' +
    'operation as the role, and runs no operation. A certificate has the rows at most as limits.rows counts them, the\n' +
    'estimated cost as limits.cost bounds it, indexes, and large tables that are read from end to end. Plans are generic\n' +
    'plans; variables have the largest pages and empty filters, and the certificate names their values. Estimates follow\n' +
    'the statistics: use a database of the real size.\n\n' +
    '--check fails where the cost or the rows of an operation grew by more than the factor, where it lost an index, reads\n' +
    'another large table from end to end, is newly refused, or is not in the certificate.\n\n' +
    'Exit codes: 0 nothing became more expensive, 1 something did, 2 wrong use, 3 no result (no database).',
  options: {
    ...documentOptions,
    role: {
      value: 'NAMES',
      help: 'Roles, separated by commas (default: anon; with --artifacts those for which it was compiled).',
    },
    check: { value: 'FILE', help: 'A certificate to compare with.' },
    factor: { value: 'N', help: 'With --check: the growth that is still allowed (default: 1.5).' },
    large: { value: 'ROWS', help: 'Size of a large table (default: 10000 rows, with --check as in the certificate).' },
    out: { value: 'FILE', help: 'Write the certificate to this file.' },
    json: { value: null, help: 'Print the certificate, or with --check the comparison, as JSON.' },
  },
  run: async (given, terminal) => {
    const request = await requestOf(given, terminal)
    terminal.stage(`Estimating ${request.documents.length} documents`)
    const measured = await withDatabase(request.database, (database) => certify(database, request, terminal)).catch(
      (error: unknown) => {
        throw error instanceof CommandFailure ? error : new CommandFailure(reasonOf(error), noVerdict)
      },
    )
    if (request.out !== null) await writeOut(request.out, printCertificate(measured.certificate))
    if (request.check === null) {
      printMeasured(measured, request, terminal)
      return exitCodes.done
    }
    return checkCosts(measured.certificate, request.check, request, terminal)
  },
}

const noVerdict = 3
const usualFactor = 1.5
const usualLarge = 10_000

type CostRequest = Awaited<ReturnType<typeof requestOf>>

interface Measured {
  readonly certificate: Certificate
  /** The value of `limits.cost`; undefined: not set. */
  readonly limit: number | undefined
}

async function requestOf(given: GivenOptions, terminal: Terminal) {
  const documents = await namedDocuments(given)
  if (documents === null) throw misuse('cost needs --documents or --artifacts')
  const roles = namesOption(given, 'role', usualRoles(documents))
  const checked = textOption(given, 'check')
  if (checked === null && given['factor'] !== undefined) throw misuse('--factor goes with --check')
  const certificate = checked === null ? null : parseCertificate(readGiven(checked, '--check'))
  if (checked !== null && certificate === null) throw misuse(`--check: ${checked} is not a certificate that cost wrote`)
  return {
    documents,
    roles,
    check: certificate,
    factor: numberOption(given, 'factor', /^\d+(?:\.\d+)?$/) ?? usualFactor,
    large: numberOption(given, 'large', /^\d{1,12}$/) ?? certificate?.large ?? usualLarge,
    out: textOption(given, 'out'),
    json: given['json'] === true,
    database: await loginDatabase(neededSettingsOf(terminal)),
  }
}

const usualRoles = (documents: readonly GivenDocument[]): string =>
  [...new Set(documents.flatMap(({ roles }) => roles ?? 'anon'))].join(',') || 'anon'

async function certify(database: Database, request: CostRequest, { note }: Terminal): Promise<Measured> {
  const { roles, documents, large } = request
  const { schemas } = request.database
  for (const role of roles) await demandRole(database.query, role, noVerdict)
  const { revision } = await createCompiler({ query: database.query, schemas, version: null }).compile()
  const { limits } = revision.manifest
  demandReadable(revision.manifest, roles, noVerdict)
  const unknown = new Set<string>()
  const measuring = {
    engine: createEngine(revision),
    run: database.run,
    sizes: await readSizes(database.query),
    large,
    onUnknown: (tables: readonly string[]) => tables.forEach((table) => unknown.add(table)),
  }
  const operations = await measure(measuring, roles, documents)
  if (unknown.size > 0) {
    note(`catalograph: never analyzed, so that their sizes are unknown: ${[...unknown].sort().join(', ')}`)
  }
  return { certificate: { format: 1, large, operations }, limit: limits?.cost }
}

function printMeasured({ certificate, limit }: Measured, { out, json }: CostRequest, { print }: Terminal): void {
  if (json) print(printCertificate(certificate).trimEnd())
  else if (out !== null) print(`${out}: ${certificate.operations.length} operations`)
  else print(printCosts(certificate, limit))
}

function checkCosts(now: Certificate, before: Certificate, { factor, json }: CostRequest, { print }: Terminal): number {
  const comparison = compareCosts(before, now, factor)
  print(json ? JSON.stringify(comparison, null, 2) : printCostComparison(comparison, now.operations.length, factor))
  return comparison.dearer.length > 0 ? exitCodes.failed : exitCodes.done
}
