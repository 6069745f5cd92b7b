import type { Catalog } from '../../../catalog/catalog.ts'
import { ident, qualified } from '../../../../runtime/sql/ident.ts'
import type { ComparedCaller, ComparedDocument } from '../comparison.ts'
import { memberList, memberObject, memberText } from '../imported.ts'
import { askServer, expectedRows } from '../old-server.ts'
import type { Asking } from '../trial.ts'
import type { HasuraMetadata } from './metadata.ts'
import { permissionsOf, type Permission } from './permissions.ts'
import { createWorld, type TrackedTable } from './tables.ts'

const rootOfTable = ({ metadata, schema, name }: TrackedTable): string => {
  const configuration = memberObject(metadata, 'configuration')
  const custom = memberObject(configuration, 'custom_root_fields')['select']
  const root = typeof custom === 'string' ? custom : memberText(custom, 'name')
  return root ?? memberText(configuration, 'custom_name') ?? (schema === 'public' ? name : `${schema}_${name}`)
}

const fieldOfColumn = ({ metadata }: TrackedTable, column: string): string => {
  const configuration = memberObject(metadata, 'configuration')
  const config = memberObject(memberObject(configuration, 'column_config'), column)
  return (
    memberText(config, 'custom_name') ??
    memberText(memberObject(configuration, 'custom_column_names'), column) ??
    column
  )
}

/** All rows of a table that a role may read, there and here. */
function wholeTable({ table, rule }: Permission): ComparedDocument {
  const all = table.relation.columns.map(({ name }) => name)
  const columns = rule['columns'] === '*' ? all : memberList(rule, 'columns').map(String)
  const fields = columns.map((column) => fieldOfColumn(table, column))
  const shown = columns.map((column, index) => `${ident(column)} as ${ident(fields[index] ?? column)}`)
  return {
    name: `${table.schema}.${table.name}`,
    before: `query { ${rootOfTable(table)} { ${fields.join(' ')} } }`,
    graphql: null,
    sql: `select ${shown.join(', ')} from ${qualified(table.schema, table.name)}`,
    variables: {},
    expected: undefined,
  }
}

interface OldHasura {
  readonly endpoint: string | null
  readonly secret: string | null
}

/** A caller without documents asks for all rows of each table that its role may read. */
export function hasuraAsking(
  callers: readonly ComparedCaller[],
  metadata: HasuraMetadata,
  catalog: Catalog,
  roleOf: (role: string) => string,
  { endpoint, secret }: OldHasura,
): readonly Asking[] {
  const permissions = permissionsOf(createWorld(catalog, metadata.source.tables))
  return callers.map(({ role, claims, session, headers: given, documents }) => {
    const headers = {
      'x-hasura-role': role,
      ...session,
      ...given,
      ...(secret !== null && { 'x-hasura-admin-secret': secret }),
    }
    const readable = permissions.filter(
      (one) =>
        one.role === role &&
        one.command === 'select' &&
        (one.rule['columns'] === '*' || memberList(one.rule, 'columns').length > 0),
    )
    return {
      name: role,
      role: roleOf(role),
      claims: { 'https://hasura.io/jwt/claims': session, ...claims },
      documents: documents ?? readable.map(wholeTable),
      before: async (document) => (endpoint === null ? expectedRows(document) : askServer(endpoint, headers, document)),
    }
  })
}
