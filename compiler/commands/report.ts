import { withSession } from '../../runtime/db/connect/session.ts'
import { demandSchemas } from '../following/serving/followed-source.ts'
import { keylessRows, printReport, compileReporting, reportFor } from './advise/report/report.ts'
import { exitCodes, type Command } from './command.ts'
import { demandRole } from './demand-role.ts'
import { neededSettingsOf, ownerUrl } from './needed-settings.ts'

export const reportCommand: Command = {
  name: 'report',
  summary: 'Show what a role finds in the API, what it lacks and why.',
  description:
    'The schema report of every served schema, without a comment that enables it. It lists tables, views and functions\n' +
    'that are not in the API of the role, the remarks of the compiler, and faults of the database such as missing\n' +
    'row-level security and missing indexes, each with the SQL that fixes it. It only reads.',
  options: {
    role: { value: 'ROLE', help: 'Whose API (default: anon).' },
    json: { value: null, help: 'Print the report as JSON.' },
  },
  run: async ({ role: given, json }, terminal) => {
    const role = typeof given === 'string' ? given : 'anon'
    const settings = neededSettingsOf(terminal)
    const { schemas } = settings
    const url = await ownerUrl(settings)
    terminal.stage('Compiling the database')
    const { manifest, keyless } = await withSession({ url }, async (query) => {
      await demandSchemas(query, schemas)
      await demandRole(query, role)
      const { manifest: compiled } = await compileReporting(query, schemas)
      return { manifest: compiled, keyless: await keylessRows(query, compiled) }
    })
    terminal.stage('Looking for faults')
    // As the login role, which sets the role as for a request.
    const found = await reportFor(settings.databaseUrl ?? url, manifest, role)
    const report = { ...found, advice: [...found.advice, ...keyless] }
    terminal.print(json === true ? JSON.stringify(report, null, 2) : printReport(report))
    return exitCodes.done
  },
}
