import type { Annotated, AnnotatedRelation } from '../../compiler/comments/annotated.ts'
import type { Command, GivenOptions, Terminal } from '../../compiler/commands/command.ts'
import type { Product } from '../../compiler/commands/verify.ts'
import { isJsonObject, tryParseJson } from '../../runtime/lib/json.ts'
import { printVerdict } from './print.ts'
import type { Verdict, VerifyOptions } from './verify.ts'

const usualMost = 5

/**
 * The command `verify` of the product: compares the served answers with the reference interpreter, on the user's own
 * schema and rows.
 */
export const commandOf = (product: Product): Command => ({
  name: 'verify',
  summary: 'Compare answers on your rows with the reference interpreter.',
  description:
    'Draws documents about the tables and rows that a role sees in the database of DATABASE_URL (without it the\n' +
    'embedded one), answers each with the service and with an interpreter of the specification, and compares the answers.\n' +
    'It only reads, in read-only transactions, and goes on after a difference. The output lists what was not judged: large tables, functions, types that\n' +
    'the interpreter does not know. Policies decide which rows are read; the command does not judge policies.\n\n' +
    'Exit codes: 0 no difference, 1 a difference, 2 wrong use, 3 no result (nothing to compare, or no database).',
  options: {
    minutes: { value: 'N', help: 'Duration (default: 1).' },
    seed: { value: 'S', help: 'Seed of the drawn documents; the same seed and rows give the same documents.' },
    role: { value: 'NAMES', help: 'Roles, separated by commas (default: anon,authenticated).' },
    claims: { value: 'JSON', help: 'Claims of the caller, such as {"sub": "..."}.' },
    rows: {
      value: 'N',
      help: 'Largest table that is read as a whole; of larger ones a sample is read (default: 500).',
    },
    most: {
      value: 'N',
      help: `Differences to look for in each schema and role (default: ${usualMost}); those of one kind count once.`,
    },
    skip: { value: 'TABLE', repeated: true, help: 'Leave out a table or view; may be given several times.' },
    json: { value: null, help: 'Print the results as JSON.' },
  },
  run: async (given, terminal) => {
    const { CommandFailure, exitCodes, reasonOf } = product
    const request = await requestOf(product, given, terminal)
    const verdicts = await verify(product, request, terminal).catch((error: unknown) => {
      if (error instanceof CommandFailure) throw error
      throw new CommandFailure(reasonOf(error), noVerdict)
    })
    const judged = verdicts.filter(({ documents }) => documents > 0)
    terminal.print(
      request.json
        ? JSON.stringify({ seed: request.seed, verdicts }, null, 2)
        : [`seed ${request.seed}`, ...verdicts.map(printVerdict)].join('\n'),
    )
    if (judged.some(({ differences }) => differences.length > 0)) return exitCodes.failed
    return judged.length === 0 ? noVerdict : exitCodes.done
  },
})

const noVerdict = 3

type VerifyRequest = Awaited<ReturnType<typeof requestOf>>

async function requestOf(product: Product, given: GivenOptions, terminal: Terminal) {
  const { namesOption, numberOption, repeatedOption, textOption } = product
  return {
    roles: namesOption(given, 'role', 'anon,authenticated'),
    minutes: numberOption(given, 'minutes', /^\d+(?:\.\d+)?$/) ?? 1,
    seed: numberOption(given, 'seed', /^\d{1,9}$/) ?? Date.now() % 1_000_000,
    rows: numberOption(given, 'rows', /^\d{1,5}$/) ?? 500,
    most: Math.max(1, numberOption(given, 'most', /^\d{1,4}$/) ?? usualMost),
    skip: repeatedOption(given, 'skip'),
    claims: claimsOf(product, textOption(given, 'claims') ?? '{}'),
    json: given['json'] === true,
    database: await product.loginDatabase(product.neededSettingsOf(terminal)),
  }
}

function claimsOf({ misuse }: Product, text: string): VerifyOptions['claims'] {
  const value = tryParseJson(text)
  if (isJsonObject(value)) return value as VerifyOptions['claims']
  throw misuse('--claims takes a JSON object')
}

/** The named tables and views, with or without their schema. @throws CommandFailure for an unknown one */
function skippedOf(
  { misuse }: Product,
  names: readonly string[],
  { relations }: Annotated,
): readonly AnnotatedRelation[] {
  return names.flatMap((given) => {
    const found = relations.filter(({ schema, name }) => given === name || given === `${schema}.${name}`)
    if (found.length === 0) throw misuse(`--skip names no table or view of a served schema: "${given}"`)
    return found
  })
}

/** The parts that the time did not suffice for. */
const notReached = (role: string, schema: string): Verdict => ({
  role,
  schema,
  tables: 0,
  rows: 0,
  documents: 0,
  refused: 0,
  skipped: 0,
  differences: [],
  notJudged: [{ object: `schema ${schema}`, reason: 'the time was over; give it more with --minutes' }],
})

/** One role and schema after the other, each with its share of the time. */
async function verify(product: Product, request: VerifyRequest, { stage }: Terminal): Promise<readonly Verdict[]> {
  const { createCompiler, demandReadable, demandSchemas, withDatabase, withSession } = product
  const { database, roles, minutes, claims, seed, rows, most } = request
  const { url, schemas } = database
  // fast-check is behind this import, which the help of all commands does not need.
  const { verifySchema } = await import('./verify.ts')
  stage('Compiling the database')
  const { annotated, revision } = await withSession({ url }, async (query) => {
    await demandSchemas(query, schemas)
    return createCompiler({ query, schemas, version: null }).compile()
  })
  demandReadable(revision.manifest, roles, noVerdict)
  const skip = skippedOf(product, request.skip, annotated)
  const pairs = roles.flatMap((role) => annotated.schemas.map((schema) => ({ role, schema })))
  const verdicts: Verdict[] = []
  const start = Date.now()
  const end = start + minutes * 60_000
  const share = (end - start) / Math.max(1, pairs.length)
  // The interpreter knows times in UTC.
  await withDatabase({ ...database, timeZone: 'UTC' }, async ({ run }) => {
    for (const [index, { role, schema }] of pairs.entries()) {
      const deadline = start + share * (index + 1)
      if (verdicts.length > 0 && Date.now() > end) {
        verdicts.push(notReached(role, schema.name))
        continue
      }
      stage(`Asking as ${role} on schema ${schema.name} (${index + 1} of ${pairs.length})`)
      const options = { product, annotated, revision, run, role, claims, seed, rows, most, skip, deadline }
      verdicts.push(await verifySchema(options, schema))
    }
  })
  return verdicts
}
