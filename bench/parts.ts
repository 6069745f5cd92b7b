import pg from 'pg'
import type { Standing } from '../test/support/standing.ts'
import { topologies, topologyNamed, type Topology } from '../test/support/topologies.ts'
import { blogSchema, blogSize, fillBlog } from './blog/data.ts'
import { operations, type Operation } from './blog/operations.ts'
import { checkAnswer, loadFor, warmUp } from './serve/measure.ts'
import { createAccess, startProduct, type Subject } from './serve/subjects.ts'
import { withCleanup } from './support/cleanup.ts'
import { withCpu } from './support/cpu.ts'
import { saturate } from './support/load.ts'
import { readOptions } from './support/options.ts'
import { postgresSource, serverPid, startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { figure, median } from './support/statistics.ts'
import { printTable } from './support/table.ts'

/**
 * The cost of a request for each part of a topology of docs/scale.md, in microseconds of CPU, as docs/capacity.md multiplies it. The
 * service is one process. Of rounds the least and the median.
 *
 * --topologies pooler,replica --only key,page,insert --seconds 0.5 --rounds 8 --warm-up 4000 --connections 8 --scale 0.1 --json FILE
 */
const options = readOptions()
const names = options.text('topologies')?.split(',') ?? ['pooler', 'replica']
const only = options.text('only')?.split(',') ?? ['key', 'page', 'nested', 'insert']
const chosen = operations.filter(({ name }) => only.includes(name))
const size = blogSize(options.number('scale', 0.1))
const [rounds, warmUpRequests] = [options.number('rounds', 8), options.number('warm-up', 4_000)]
const effort = { connections: options.number('connections', 8), sliceMs: options.number('seconds', 0.5) * 1_000 }

type Parts = Readonly<Record<string, number>>

/** The postmaster of the first replica. */
async function replicaPid({ environment }: Standing): Promise<number | null> {
  const [first] = environment['DATABASE_REPLICA_URLS']?.split(',') ?? []
  if (first === undefined) return null
  const client = new pg.Client(Object.assign(new URL(first), { username: 'postgres' }).href)
  await client.connect()
  try {
    return await serverPid({ query: (text) => client.query(text) })
  } finally {
    await client.end()
  }
}

async function partsOf(standing: Standing, subject: Subject): Promise<Parts> {
  const replica = await replicaPid(standing)
  return {
    server: subject.server.pid,
    ...(standing.pooler !== null && { pooler: standing.pooler }),
    primary: await serverPid(standing),
    ...(replica !== null && { replica }),
  }
}

/** For each part the costs of a request, one for each round. */
async function costsOf(subject: Subject, operation: Operation, parts: Parts): Promise<ReadonlyMap<string, number[]>> {
  const load = loadFor(subject, operation, size, effort)
  await warmUp(load, warmUpRequests)
  const costs = new Map(Object.keys(parts).map((part): [string, number[]] => [part, []]))
  for (let round = 0; round < rounds; round += 1) {
    const { value, cpu } = await withCpu(parts, () => saturate(load))
    if (value.failed > 0 || value.answered === 0)
      throw new Error(`${subject.name}, ${operation.name}: ${value.failed} of ${value.answered} requests failed`)
    for (const [part, list] of costs) list.push((cpu[part] ?? Number.NaN) / value.answered)
  }
  return costs
}

const direct: Topology = { ...topologyNamed('workers'), name: 'direct' }

await withCleanup(async (later) => {
  later((await startPostgres()).stop)
  const source = await postgresSource()
  const access = await createAccess()
  const figures: Record<string, readonly number[]> = {}
  for (const topology of [direct, ...topologies.filter(({ name }) => names.includes(name))]) {
    const missing = topology.missing()
    if (missing !== null) throw new Error(missing)
    const standing = await topology.open({ major: 18, source, sql: await blogSchema() })
    later(standing.drop)
    await fillBlog(standing, size)
    const env = { ...standing.environment, WORKERS: '1' }
    const subject = await startProduct(standing, access, { name: topology.name, env })
    later(subject.server.stop)
    const parts = await partsOf(standing, subject)
    const rows = []
    for (const operation of chosen) {
      await checkAnswer(subject, operation, size)
      const costs = await costsOf(subject, operation, parts)
      for (const [part, list] of costs) figures[`parts.${topology.name}.${operation.name}.${part}`] = list
      const cells = [...costs].map(([part, list]) => [part, `${figure(Math.min(...list))} / ${figure(median(list))}`])
      rows.push({ operation: operation.name, ...Object.fromEntries(cells) })
    }
    printTable(`${topology.name}: CPU µs of a request, least / median of ${rounds} rounds`, rows)
  }
  await writeRecord({ bench: 'parts', figures }, options.text('json'))
})
