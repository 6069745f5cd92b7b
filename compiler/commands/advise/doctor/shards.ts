import { withSession, type Query } from '../../../../runtime/db/connect/session.ts'
import { readShardStatus, shardWords, type WorkerNode } from '../../../../runtime/db/shards/shard-status.ts'
import { ident } from '../../../../runtime/sql/ident.ts'
import { literal } from '../../../../runtime/sql/tree.ts'
import { advise, fault, ok, type Finding } from './findings.ts'

/** About Citus: whether each API role reaches each worker node, and whether the nodes print values alike. */

const check = 'citus'

const nodeName = ({ host, port }: Pick<WorkerNode, 'host' | 'port'>): string => `${host}:${port}`

async function reachFindings(query: Query): Promise<readonly Finding[]> {
  const { nodes, faults } = await readShardStatus(query)
  if (nodes === 0) return []
  return faults.length === 0
    ? [ok(check, `each role of the API reaches ${nodes} worker nodes`)]
    : faults.map((one) => {
        const { message, fix } = shardWords(one, nodeName)
        return fault(check, message, fix)
      })
}

/** A worker prints values by its own settings, independent of the coordinator's (test/promises/citus.test.ts). */
const printing = ['TimeZone', 'IntervalStyle', 'bytea_output', 'extra_float_digits', 'lc_monetary', 'row_security']

interface Difference extends Pick<WorkerNode, 'host' | 'port'> {
  readonly setting: string
  readonly there: string
  readonly here: string
  readonly database: string
}

/** $1: the question to a worker. Unreachable nodes are reported elsewhere. */
const differencesSql = `select w.nodename as host, w.nodeport as port, told.setting, told.there,
    pg_catalog.current_setting(told.setting) as here, pg_catalog.current_database()::text as database
  from pg_catalog.run_command_on_workers($1) w
  cross join lateral pg_catalog.json_each_text(case when w.success then w.result::pg_catalog.json end) told (setting, there)
  where told.there <> pg_catalog.current_setting(told.setting)
  order by w.nodename, w.nodeport, told.setting`

const askPrinting = `select pg_catalog.json_object_agg(name, pg_catalog.current_setting(name))
  from pg_catalog.unnest(array[${printing.map(literal).join(', ')}]) name`

const differenceFinding = ({ setting, there, here, database, ...node }: Difference): Finding =>
  advise(
    check,
    `${setting} is ${there} on the worker node ${nodeName(node)} and ${here} here, so that answers depend on where rows lie`,
    `alter database ${ident(database)} set ${ident(setting)} = ${literal(here)};`,
  )

/** As the owner, with the settings of requests. */
const printingFindings = (ownerUrl: string): Promise<readonly Finding[]> =>
  withSession({ url: ownerUrl, searchPath: null }, async (query) =>
    (await query<Difference>(differencesSql, [askPrinting])).rows.map(differenceFinding),
  )

/** Rejects if the login role lacks privileges, or cannot become a role of the API. */
export async function shardFindings(loginUrl: string, ownerUrl: string): Promise<readonly Finding[]> {
  const reached = await withSession({ url: loginUrl }, reachFindings)
  return reached.length === 0 ? [] : [...reached, ...(await printingFindings(ownerUrl))]
}
