import { join } from 'node:path'
import { runningEmbeddedUrl } from '../../runtime/db/embedded/embedded-url.ts'
import { readSettings } from '../../runtime/settings/read.ts'
import { examine } from './advise/doctor/examine.ts'
import { fault, printFindings, type Finding } from './advise/doctor/findings.ts'
import { exitCodes, type Command, type Terminal } from './command.ts'
import { embeddedSecret } from './start.ts'

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Check the database and its settings, and suggest fixes.',
  description:
    'Settings, connection and encryption, versions, clock, login role, what is prepared, poolers, grants, comments,\n' +
    'names, row-level security, indexes, keys and mail. It only reads.\n\n' +
    'Exit codes: 0 requests can be answered (there may be advice), 1 a fault prevents that.',
  options: { json: { value: null, help: 'Print the findings as JSON.' } },
  run: async ({ json }, terminal) => {
    terminal.stage('Checking settings, connection and database')
    const findings = await examineAll(terminal)
    terminal.print(json === true ? JSON.stringify(findings, null, 2) : printFindings(findings))
    return findings.some(({ verdict }) => verdict === 'fault') ? exitCodes.failed : exitCodes.done
  },
}

async function examineAll({ environment }: Terminal): Promise<readonly Finding[]> {
  const read = readSettings(environment)
  if (read.kind === 'invalid') {
    return read.problems.map((problem) => fault('settings', problem, 'catalograph settings explains each setting'))
  }
  const { settings } = read
  const embedded = await runningEmbeddedUrl(join(settings.dataFolder, 'postgres'))
  const loginUrl = settings.databaseUrl ?? settings.databaseOwnerUrl ?? embedded
  if (loginUrl === null) {
    return [
      fault('settings', 'no database is configured', 'set DATABASE_URL, or run catalograph start at the same time'),
    ]
  }
  const ownerUrl = settings.databaseOwnerUrl ?? loginUrl
  const isEmbedded = settings.jwtSecret === null && (await embeddedSecret(settings)) !== null
  return examine({ settings, isEmbedded, loginUrl, ownerUrl }, process.versions.node, Date.now)
}
