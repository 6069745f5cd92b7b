import { createDatabase } from '../../test/support/database.ts'
import { accessAs, postTo, startProduct, type Access } from '../serve/subjects.ts'
import { serverPid } from '../support/postgres.ts'
import { createTables, documentOf } from '../support/tables.ts'

/** A growing quantity, and how a service of each size is created. All sizes are measured with the same questions. */
export interface Axis {
  readonly name: AxisName
  readonly sizes: readonly number[]
  readonly open: (sizes: readonly number[], place: Place) => Promise<readonly Sized[]>
}

export type AxisName = 'tables' | 'roles' | 'policies' | 'connections' | 'documents'

/** The keys and tokens, and the cleanups. */
export interface Place {
  readonly access: Access
  readonly later: (close: () => Promise<unknown>) => void
}

/** One size of an axis: the server, and the request. */
export interface Sized {
  readonly size: number
  readonly port: number
  readonly processes: Readonly<Record<'server' | 'database', number>>
  readonly connections: number
  readonly requests: readonly Buffer[]
}

const usualConnections = 16
/** One caller may not hold all connections of the pool, so several are needed to keep it busy. */
const callers = 200

type Opened = Pick<Sized, 'port' | 'processes'>

const serve = async (db: Awaited<ReturnType<typeof createDatabase>>, { access, later }: Place): Promise<Opened> => {
  later(db.drop)
  const { server } = await startProduct(db, access)
  later(server.stop)
  return { port: server.port, processes: { server: server.pid, database: await serverPid(db) } }
}

const graphql = (access: Access, query: string, variables: Readonly<Record<string, unknown>> = {}): Buffer =>
  postTo('/graphql/v1', access, { query, variables })

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

const persons = (access: Access): Promise<readonly Access[]> =>
  Promise.all(times(callers, (index) => accessAs(access, { sub: String(index) })))

const rows = 1_000
const rowOf = (index: number): number => 1 + ((index * 7) % rows)

/** A table of a thousand rows, each visible by `policies`. */
const tableOf = (name: string, grantees: string, policies: readonly string[]): string => `
  create table ${name} (id int primary key, kind int not null, title text not null, created_at timestamptz not null);
  insert into ${name} select n, 1000, 'The title of row ' || n, '2024-01-01'::timestamptz + n * interval '1 hour'
    from generate_series(1, ${rows}) n;
  grant select on ${name} to ${grantees};
  ${policies.length === 0 ? '' : `alter table ${name} enable row level security;`}
  ${policies.map((using, index) => `create policy p${index} on ${name} for select using (${using});`).join('\n')}`

const byKey = (name: string): string => `query Key($id: Int!) { ${name}ByPk(id: $id) { id kind title createdAt } }`
const everybody = ['true']

const asksOf = (people: readonly Access[], query: string): readonly Buffer[] =>
  people.map((person, index) => graphql(person, query, { id: rowOf(index) }))

const smallDatabase = async (sql: string) => {
  const db = await createDatabase({
    prepare: true,
    sql: `comment on schema public is '@graphql({"inflect_names": true})'; ${sql}`,
  })
  await db.query('vacuum analyze')
  return db
}

/** A document of three levels on a table that exists at each size. */
const tables: Axis = {
  name: 'tables',
  sizes: [10, 100, 1_000, 10_000],
  open: async (sizes, place) => {
    const people = await persons(place.access)
    const requests = people.map((person) => graphql(person, documentOf(9, 3, 0), { c0: 'x' }))
    const opened: Sized[] = []
    for (const size of sizes)
      opened.push({
        ...(await serve(await createTables(18, size), place)),
        size,
        connections: usualConnections,
        requests,
      })
    return opened
  },
}

/** A row by key, by callers of all roles in turn. Roles are shared by a server, so each size has its own. */
const roles: Axis = {
  name: 'roles',
  sizes: [3, 10, 100, 1_000],
  open: async (sizes, place) => {
    const opened: Sized[] = []
    for (const size of sizes) {
      const names = times(size, (index) => `member_${index}`)
      const db = await createDatabase({ isolated: true, prepare: true })
      await db.query(`comment on schema public is '@graphql({"inflect_names": true})';
        ${names.map((name) => `create role ${name} nologin noinherit; grant ${name} to authenticator;`).join('\n')}
        grant usage on schema public to ${names.join(', ')};
        ${tableOf('item', names.join(', '), everybody)}`)
      await db.query('vacuum analyze')
      const people = await Promise.all(
        times(Math.max(callers, size), (index) =>
          accessAs(place.access, { sub: String(index), role: names[index % size] }),
        ),
      )
      opened.push({
        ...(await serve(db, place)),
        size,
        connections: usualConnections,
        requests: asksOf(people, byKey('item')),
      })
    }
    return opened
  },
}

/**
 * A row by key with so many policies, of which the last one shows it to all roles; without any, row-level security is
 * off.
 */
const policies: Axis = {
  name: 'policies',
  sizes: [0, 1, 10, 100],
  open: async (sizes, place) => {
    const name = (size: number): string => `guarded${size}`
    const conditions = (size: number): readonly string[] => times(size, (index) => `kind = ${1_001 + index - size}`)
    const db = await smallDatabase(sizes.map((size) => tableOf(name(size), 'authenticated', conditions(size))).join(''))
    const [opened, people] = [await serve(db, place), await persons(place.access)]
    return sizes.map((size) => ({
      ...opened,
      size,
      connections: usualConnections,
      requests: asksOf(people, byKey(name(size))),
    }))
  },
}

/** A row by key, on so many simultaneous HTTP connections. */
const connections: Axis = {
  name: 'connections',
  sizes: [1, 10, 100, 500],
  open: async (sizes, place) => {
    const db = await smallDatabase(tableOf('item', 'authenticated', everybody))
    const [opened, people] = [await serve(db, place), await persons(place.access)]
    const requests = asksOf(people, byKey('item'))
    return sizes.map((size) => ({ ...opened, size, connections: size, requests }))
  },
}

/** A row by key in so many documents, each with a different SQL statement, in turn. */
const documents: Axis = {
  name: 'documents',
  sizes: [1, 10, 100, 1_000, 10_000],
  open: async (sizes, place) => {
    const db = await smallDatabase(tableOf('item', 'authenticated', everybody))
    const [opened, people] = [await serve(db, place), await persons(place.access)]
    const document = (index: number): string => byKey('item').replace('kind', `kind title${index}: title`)
    return sizes.map((size) => ({
      ...opened,
      size,
      connections: usualConnections,
      requests: times(Math.max(size, callers), (index) =>
        graphql(people[index % callers] ?? place.access, document(index % size), { id: rowOf(index) }),
      ),
    }))
  },
}

export const axes: readonly Axis[] = [tables, roles, policies, connections, documents]
