import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { enableDemoAuth, renderWelcome } from '../compiler/commands/start.ts'
import { messageOf } from '../runtime/lib/text.ts'
import { publishClusters, type Major } from '../test/support/clusters.ts'
import { serveBuilt } from '../test/support/served.ts'
import type { Standing } from '../test/support/standing.ts'
import { topologies, topologyNamed, type Topology } from '../test/support/topologies.ts'
import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { postgresSource } from './support/postgres.ts'
import { projectFolder } from './support/record.ts'
import { printTable } from './support/table.ts'

/**
 * Starts a topology of docs/scale.md with the demo, all of it on loopback, and prints what `npm start` prints. Ctrl-C stops it:
 * npm run topology -- NAME
 */
const name = readOptions().text('name')

const readDemo = async (): Promise<string> => {
  const files = ['schema.sql', 'seed.sql'].map((file) => join(projectFolder, 'fixtures/demo', file))
  const scripts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  return [...scripts, 'analyze;'].join('\n')
}

const start = (topology: Topology): Promise<void> =>
  withCleanup(async (later) => {
    // Citus' servers are Debian's.
    const major: Major = topology.name === 'citus' ? 15 : 18
    const source = await postgresSource(major)
    // All servers belong to the topology.
    publishClusters([{ major, port: 0, postgis: false, ...source }])
    const missing = topology.missing()
    if (missing !== null) throw new Error(missing)
    console.info(`Starting ${topology.has}, with the demo`)
    const standing = await topology.open({ major, source, sql: await readDemo() })
    let current: Standing = standing
    later(() => current.drop())
    await enableDemoAuth(standing.ownerUrl)
    const served = await serveBuilt(standing, standing.environment, standing.host)
    later(served.stop)
    const keys = { anon: served.anon, serviceRole: served.service }
    console.info(renderWelcome({ url: served.url, keys, adminUrl: standing.ownerUrl }))
    if (standing.promote !== null) {
      console.info('Enter stops the primary and promotes a standby.')
      await once(process.stdin, 'data')
      process.stdin.pause()
      current = await standing.promote()
      console.info(`Postgres      ${current.ownerUrl}`)
    }
    await served.ended
  })

const showAll = (): void =>
  printTable(
    'Topologies',
    topologies.map(({ name, has }) => ({ name, 'what it starts': has })),
  )

try {
  if (name === null) showAll()
  else await start(topologyNamed(name))
} catch (error) {
  console.error(messageOf(error))
  process.exitCode = 1
}
