import { withSession, type Query } from '../../../runtime/db/connect/session.ts'
import { lookAtShards, shardWords, type WorkerNode } from '../../../runtime/db/shards/look.ts'
import { ident } from '../../../runtime/sql/ident.ts'
import { literal } from '../../../runtime/sql/literal.ts'
import { advise, fault, ok, type Finding } from './findings.ts'

/** Of Citus: whether the coordinator reaches each worker node as each role of the API, and whether the nodes print values as it does. */

const check = 'citus'

const nodeName = ({ host, port }: Pick<WorkerNode, 'host' | 'port'>): string => `${host}:${port}`

async function reachFindings(query: Query): Promise<readonly Finding[]> {
  const { nodes, faults } = await lookAtShards(query)
  if (nodes === 0) return []
  return faults.length === 0
    ? [ok(check, `each role of the API reaches ${nodes} worker nodes`)]
    : faults.map((one) => {
        const { message, fix } = shardWords(one, nodeName)
        return fault(check, message, fix)
      })
}

/** A worker prints what it sends by its own settings, whatever those of the coordinator are (test/promises/citus.test.ts). */
const printing = ['TimeZone', 'IntervalStyle', 'bytea_output', 'extra_float_digits', 'lc_monetary', 'row_security']

interface Difference extends Pick<WorkerNode, 'host' | 'port'> {
  readonly setting: string
  readonly there: string
  readonly here: string
  readonly database: string
}

/** $1: what a worker is asked. A node that is not reached is told of by others. */
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

/** As the owner, with the settings that requests have here. */
const printingFindings = (ownerUrl: string): Promise<readonly Finding[]> =>
  withSession({ url: ownerUrl, searchPath: null }, async (query) =>
    (await query<Difference>(differencesSql, [askPrinting])).rows.map(differenceFinding),
  )

/** Rejects where the login role may not look, or may not become a role of the API. */
export async function shardFindings(loginUrl: string, ownerUrl: string): Promise<readonly Finding[]> {
  const reached = await withSession({ url: loginUrl }, reachFindings)
  return reached.length === 0 ? [] : [...reached, ...(await printingFindings(ownerUrl))]
}
