import type { LiveRelation } from '../../runtime/contract/live.ts'
import { loginOf } from '../../runtime/db/connect/server.ts'
import { withSession, type Query } from '../../runtime/db/connect/session.ts'
import { createCompiler } from '../compile.ts'
import type { LiveTriggers } from '../emit/live/database.ts'
import {
  bypassRemedy,
  lackOfBypass,
  lacksBypass,
  foreignOwners,
  ownerSentence,
  ownersRemedy,
} from '../following/prepare/migration.ts'
import { liveStatements } from '../following/prepare/live-statements.ts'
import { checkPrepared, prepareDatabase, wayOut, type PrepareOptions } from '../following/prepare/prepare.ts'
import { liveTriggersBy, seenTriggers } from '../following/serving/live-triggers.ts'
import { CommandFailure, exitCodes, type Command, type Terminal } from './command.ts'
import { neededSettingsOf, ownerUrl } from './needed-settings.ts'

/** The first step of `serve` on a database, for owners who run it separately. */
export const prepareCommand: Command = {
  name: 'prepare',
  summary: 'Prepare the database to be served, or print the SQL that does.',
  description:
    'Makes what the database of DATABASE_URL lacks, as the role of DATABASE_OWNER_URL where that is set: a schema\n' +
    'catalograph with a counter of schema changes, event triggers, the roles of the API, functions for policies, and\n' +
    'triggers on the tables that comments make live.\n' +
    'With --sql it only reads, and prints the statements that an owner must run, if any.',
  options: { sql: { value: null, help: 'Print the statements, and change nothing.' } },
  run: async (given, terminal) => {
    const settings = neededSettingsOf(terminal)
    const url = await ownerUrl(settings)
    const options = { url, login: loginOf(settings.databaseUrl ?? url), schemas: settings.schemas }
    return given['sql'] === true ? printMissing(options, terminal) : runPrepare(options, terminal)
  },
}

interface Options extends PrepareOptions {
  readonly schemas: readonly string[]
}

const unwatchedTables = ({ url, schemas }: Options, triggers: LiveTriggers): Promise<readonly LiveRelation[]> =>
  withSession(
    { url },
    async (query) => (await createCompiler({ query, schemas, version: null, triggers }).compile()).unwatched,
  )

async function printMissing(options: Options, terminal: Terminal): Promise<number> {
  const prepared = await checkPrepared(options)
  const statements = [...prepared.statements, ...liveStatements(await unwatchedTables(options, seenTriggers))]
  if (statements.length === 0) terminal.note('catalograph: the database is prepared')
  else terminal.print(statements.map((statement) => `${statement};`).join('\n\n'))
  return exitCodes.done
}

async function runPrepare(options: Options, terminal: Terminal): Promise<number> {
  terminal.stage('Preparing the database')
  const preparation = await prepareDatabase(options)
  if (!preparation.ready) {
    throw new CommandFailure(
      `${loginOf(options.url)} may not prepare the database, and nothing was changed: ${wayOut(preparation)}`,
    )
  }
  for (const line of await withSession({ url: options.url }, (query) => outcome(query, preparation.followed)))
    terminal.print(line)
  const unwatched = await unwatchedTables(options, preparation.followed ? liveTriggersBy(options.url) : seenTriggers)
  if (unwatched.length > 0) terminal.print(unwatchedNote(unwatched))
  return exitCodes.done
}

async function outcome(query: Query, followed: boolean): Promise<readonly string[]> {
  const bypass = (await lacksBypass(query)) ? [`${lackOfBypass}: ${bypassRemedy}`] : []
  if (followed) return ['the database is prepared', ...bypass]
  const foreign = await foreignOwners(query)
  const [first] = foreign
  const late =
    first === undefined
      ? 'the database is prepared without its event triggers, which a superuser must create (catalograph prepare --sql); until then schema changes take effect up to a second late'
      : `${ownerSentence(first)}: ${ownersRemedy(foreign)}`
  return [late, ...bypass]
}

const unwatchedNote = (tables: readonly LiveRelation[]): string =>
  `the changes of ${tables.length} live tables are not reported, so that they cannot be watched: catalograph doctor shows why`
