import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { blogSize, createBlog } from './blog/data.ts'
import { operations, persisted, type Operation } from './blog/operations.ts'
import { selfTimes, type CpuProfile } from './serve/cpu-profile.ts'
import { loadFor, warmUp } from './serve/measure.ts'
import { createAccess, startLimit, startProduct, type Access } from './serve/subjects.ts'
import { withCleanup } from './support/cleanup.ts'
import { saturate } from './support/load.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { printTable } from './support/table.ts'
import type { TestDatabase } from '../test/support/database.ts'

/**
 * Where the CPU of the product's Node goes for each operation of the serving benchmark: self time by function or file,
 * in microseconds a request. Samples count only from the time of the load; they are taken by the clock, so a busy
 * machine blurs them.
 *
 * --seconds 8 --scale 0.1 --only key,page --top 40 --files (by file or package) --limit (profiles the hand-written
 * limit instead) --set METRICS=on (settings of the product, each NAME=value)
 */
const options = readOptions()
const only = options.text('only')?.split(',')
const grain = options.flag('files') ? 'file' : 'function'
const size = blogSize(options.number('scale', 0.1))
const env = parseEnv(options.texts('set').join('\n')) as Readonly<Record<string, string>>

const profileOf = async (db: TestDatabase, access: Access, operation: Operation): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'catalograph-profile-'))
  try {
    const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`]
    const subject = options.flag('limit')
      ? await startLimit(db, access, flags)
      : await startProduct(db, access, { nodeOptions: flags, env })
    const load = loadFor(subject, operation, size, { connections: 16, sliceMs: options.number('seconds', 8) * 1_000 })
    await warmUp(load, 3_000)
    const { answered, ms } = await saturate(load).finally(subject.server.stop)
    const [file] = await readdir(folder)
    if (file === undefined) throw new Error('The server left no profile.')
    const profile = JSON.parse(await readFile(join(folder, file), 'utf8')) as CpuProfile
    const rows = selfTimes(profile, ms * 1_000, grain, options.number('top', 40)).map(
      ({ place, microseconds, share }) => ({
        'µs/request': (microseconds / answered).toFixed(2),
        share: `${(share * 100).toFixed(1)} %`,
        [grain]: place,
      }),
    )
    printTable(`${subject.name}, ${operation.name}: ${answered} requests`, rows)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

await withCleanup(async (later) => {
  const postgres = await startPostgres()
  later(postgres.stop)
  const db = await createBlog(18, size)
  later(db.drop)
  const access = await createAccess()
  for (const operation of [...operations, persisted].filter(({ name }) => only?.includes(name) ?? true))
    await profileOf(db, access, operation)
})
