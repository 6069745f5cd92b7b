import { loginOf } from '../../../runtime/db/connect/server.ts'
import { checkPrepared, prepareDatabase, type PrepareOptions } from '../../prepare/prepare.ts'
import { CommandFailure, exitCodes, type Command, type Terminal } from './command.ts'
import { neededSettingsOf } from './needed-settings.ts'
import { ownerUrl } from './owner-url.ts'

/** What `serve` does to a database at first, by itself: for owners who run such things themselves. */
export const prepareCommand: Command = {
  name: 'prepare',
  summary: 'Prepare the database to be served, or print the SQL that does.',
  description:
    'Makes what the database of DATABASE_URL lacks, as the role of DATABASE_OWNER_URL where that is set: a schema\n' +
    'catalograph with a counter of schema changes, event triggers, the roles of the API, and functions for policies.\n' +
    'With --sql it only reads, and prints what an owner has to run; nothing where nothing is missing.',
  options: { sql: { value: null, help: 'Print the statements, and change nothing.' } },
  run: async (given, terminal) => {
    const settings = neededSettingsOf(terminal)
    const url = await ownerUrl(settings)
    const options = { url, login: loginOf(settings.databaseUrl ?? url) }
    return given['sql'] === true ? printMissing(options, terminal) : prepare(options, terminal)
  },
}

async function printMissing(options: PrepareOptions, terminal: Terminal): Promise<number> {
  const { statements } = await checkPrepared(options)
  if (statements.length === 0) terminal.note('catalograph: the database is prepared')
  else terminal.print(statements.map((statement) => `${statement};`).join('\n\n'))
  return exitCodes.done
}

async function prepare(options: PrepareOptions, terminal: Terminal): Promise<number> {
  terminal.stage('Preparing the database')
  const preparation = await prepareDatabase(options)
  if (!preparation.ready) {
    throw new CommandFailure(
      `${loginOf(options.url)} may not prepare the database, and nothing was changed: name a role that may create roles and schemas in DATABASE_OWNER_URL, or let one run what catalograph prepare --sql prints (${preparation.statements.length} statements)`,
    )
  }
  terminal.print(
    preparation.followed
      ? 'the database is prepared'
      : 'the database is prepared but for its event triggers, which a superuser has to create (catalograph prepare --sql); until then schema changes take effect up to a second late',
  )
  return exitCodes.done
}
