import { stringify } from 'yaml'
import { isJsonObject, type JsonObject } from '../../../../runtime/lib/json.ts'
import { ident, qualified } from '../../../../runtime/sql/ident.ts'
import { literal } from '../../../../runtime/sql/tree.ts'
import { NotCarried, memberObject, memberObjects, memberList, memberText, type ImportedStatement } from '../imported.ts'
import { permissionSchema, policyCondition, valueSql, type Definer, type Translation } from './condition.ts'
import { textOfName, type TrackedTable, type World } from './tables.ts'

type Command = 'select' | 'insert' | 'update' | 'delete'

const commands: readonly Command[] = ['select', 'insert', 'update', 'delete']

/** A permission of a role of Hasura on a table. */
export interface Permission {
  readonly table: TrackedTable
  readonly role: string
  readonly command: Command
  readonly rule: JsonObject
}

export const permissionsOf = (world: World): readonly Permission[] =>
  [...world.tables.values()].flatMap((table) =>
    commands.flatMap((command) =>
      memberObjects(table.metadata, `${command}_permissions`).map((one) => ({
        table,
        role: memberText(one, 'role') ?? '',
        command,
        rule: memberObject(one, 'permission'),
      })),
    ),
  )

/** Objects of the database, for statements that need not or must not be repeated. */
export interface Present {
  readonly roles: ReadonlySet<string>
  /** `schema.table policy`, as JSON lists. */
  readonly policies: ReadonlySet<string>
  /** Sequences that columns own: `"schema"."sequence"`, by table. */
  readonly sequences: ReadonlyMap<string, readonly string[]>
}

export interface CarriedPermission {
  readonly permission: Permission
  readonly statements: readonly ImportedStatement[]
  /** Expressions by column. */
  readonly presets: ReadonlyMap<string, string>
  /** Columns that the role may read only because rows are found or related by them. */
  readonly hidden: readonly string[]
}

export interface PermissionSql {
  readonly carried: readonly CarriedPermission[]
  readonly definers: readonly Definer[]
  readonly left: readonly string[]
}

const isAll = (value: unknown): boolean => value === '*'

const columnsIn = ({ rule }: Permission): readonly string[] | '*' =>
  isAll(rule['columns']) ? '*' : memberList(rule, 'columns').map(String)

const hasRowSecurity = ({ relation: { kind } }: TrackedTable): boolean => kind === 'r' || kind === 'p'

const mostRemark = 300

/** The permission as one line of YAML. */
const shortRule = (rule: JsonObject): string => {
  const text = stringify(rule, { collectionStyle: 'flow', lineWidth: 0 }).trim().replaceAll(/\s+/g, ' ')
  return text.length > mostRemark ? `${text.slice(0, mostRemark)} ...` : text
}

const nameOfPermission = ({ table, role, command }: Permission): string => `${textOfName(table)}, ${role}, ${command}`

const demandColumns = ({ relation }: TrackedTable, columns: Iterable<string>): void => {
  for (const column of columns)
    if (!relation.columns.some(({ name }) => name === column))
      throw new NotCarried(`${textOfName(relation)} has no column ${column}`)
}

const isUnlimited = (filter: unknown): boolean => isJsonObject(filter) && Object.keys(filter).length === 0

const policyName = (role: string, command: Command): string => `hasura ${role} ${command}`

interface Carrying {
  readonly translation: Translation
  readonly present: Present
  /** Permissions to select, by role and table. */
  readonly selects: ReadonlyMap<string, Permission>
  /** The role of Postgres for one of Hasura. */
  readonly roleOf: (role: string) => string
}

function conditionOf({ translation }: Carrying, { table, role }: Permission, value: unknown): string {
  if (value === null || value === undefined) return 'true'
  if (!isJsonObject(value)) throw new NotCarried(`a condition is expected in place of ${JSON.stringify(value)}`)
  return policyCondition(translation, value, table, role)
}

function policyStatements(carrying: Carrying, permission: Permission): readonly string[] {
  const { table, role, command, rule } = permission
  const filter = conditionOf(carrying, permission, rule['filter'])
  const check = conditionOf(carrying, permission, rule['check'])
  if (!hasRowSecurity(table)) {
    if (filter === 'true' && check === 'true') return []
    throw new NotCarried(`row-level security is for tables alone, and ${textOfName(table)} is a view or foreign`)
  }
  const [name, on] = [ident(policyName(role, command)), qualified(table.schema, table.name)]
  const using = command === 'insert' ? '' : ` using (${filter})`
  // Without it, Postgres would hold new rows to USING, which Hasura does not.
  const checked = command === 'insert' || command === 'update' ? ` with check (${check})` : ''
  const key = JSON.stringify([table.schema, table.name, policyName(role, command)])
  return [
    ...(carrying.present.policies.has(key) ? [`drop policy ${name} on ${on}`] : []),
    `create policy ${name} on ${on} for ${command} to ${ident(carrying.roleOf(role))}${using}${checked}`,
  ]
}

function presetExpressions({ translation }: Carrying, { table, role, rule }: Permission): ReadonlyMap<string, string> {
  const set = memberObject(rule, 'set')
  demandColumns(table, Object.keys(set))
  return new Map(
    Object.entries(set).map(([column, value]) => {
      const type = translation.world.type(table.relation.columns.find(({ name }) => name === column)?.type ?? '')
      if (type === undefined) throw new NotCarried(`the type of column ${column} is not known`)
      return [column, valueSql(value, type, role)]
    }),
  )
}

/** Columns of a table that join it with tables which the role reads, too. */
function joiningColumns({ translation: { world }, selects }: Carrying, { table, role }: Permission): readonly string[] {
  const [own, isRead] = [textOfName(table), (name: string): boolean => selects.has(selectKey(role, name))]
  return [...world.tables.values()].flatMap((from) =>
    [...from.relationships.values()].flatMap(({ leads }) => {
      if (leads === null || !isRead(textOfName(from)) || !isRead(textOfName(leads.target))) return []
      const local = textOfName(from) === own ? leads.pairs.map(([column]) => column) : []
      return [...local, ...(textOfName(leads.target) === own ? leads.pairs.map(([, column]) => column) : [])]
    }),
  )
}

/** Rows are found by their key, and related by columns; a role that may not read these gets them for that. */
function hiddenColumns(
  carrying: Carrying,
  permission: Permission,
  columns: readonly string[] | '*',
): readonly string[] {
  if (permission.command !== 'select' || columns === '*' || columns.length === 0) return []
  const needed = [...(permission.table.relation.primaryKey ?? []), ...joiningColumns(carrying, permission)]
  return [...new Set(needed)].filter((column) => !columns.includes(column))
}

function grantStatements(
  { present, roleOf }: Carrying,
  { table, command, role }: Permission,
  columns: readonly string[] | '*',
): readonly string[] {
  const [on, to] = [qualified(table.schema, table.name), ident(roleOf(role))]
  if (columns !== '*' && columns.length === 0) throw new NotCarried('it names no columns')
  const sequences = command === 'insert' ? (present.sequences.get(textOfName(table)) ?? []) : []
  return [
    `grant ${command}${columns === '*' ? '' : ` (${columns.map(ident).join(', ')})`} on ${on} to ${to}`,
    ...sequences.map((sequence) => `grant usage on sequence ${sequence} to ${to}`),
  ]
}

/** @throws NotCarried */
function carry(carrying: Carrying, permission: Permission): CarriedPermission {
  const { table, role, command, rule } = permission
  if (rule['backend_only'] === true)
    throw new NotCarried('it is for a back end alone (backend_only): use service_role there')
  const columns = command === 'delete' ? '*' : columnsIn(permission)
  if (columns !== '*') demandColumns(table, columns)
  const presets = presetExpressions(carrying, permission)
  const hidden = hiddenColumns(carrying, permission, columns)
  // A computed field takes the whole row.
  const computed = command === 'select' && memberList(rule, 'computed_fields').length > 0
  const isWhole = columns === '*' || (computed && table.relation.columns.every(({ name }) => columns.includes(name)))
  const granted = isWhole ? '*' : [...new Set([...columns, ...presets.keys(), ...hidden])]
  const statements = [...grantStatements(carrying, permission, granted), ...policyStatements(carrying, permission)]
  const remarks = [`${role}, ${command}: ${shortRule(rule)}`]
  return {
    permission,
    presets,
    hidden,
    statements: statements.map((sql, index) => ({ remarks: index === 0 ? remarks : [], sql })),
  }
}

const selectKey = (role: string, table: string): string => JSON.stringify([role, table])

/** Whether a role may read columns of all rows, by its permission. */
const readableBy =
  (selects: Carrying['selects']): Translation['isReadable'] =>
  (role, table, columns) => {
    const select = selects.get(selectKey(role, table))
    if (select === undefined || !isUnlimited(select.rule['filter'])) return false
    const granted = columnsIn(select)
    return granted === '*' || [...columns].every((column) => granted.includes(column))
  }

export function permissionSql(
  world: World,
  permissions: readonly Permission[],
  present: Present,
  roleOf: (role: string) => string,
): PermissionSql {
  const selects = new Map(
    permissions
      .filter(({ command }) => command === 'select')
      .map((one) => [selectKey(one.role, textOfName(one.table)), one]),
  )
  const translation: Translation = { world, isReadable: readableBy(selects), definers: new Map() }
  const [carried, left] = [[] as CarriedPermission[], [] as string[]]
  for (const permission of permissions) {
    try {
      carried.push(carry({ translation, present, selects, roleOf }, permission))
    } catch (error) {
      if (!(error instanceof NotCarried)) throw error
      left.push(`permission ${nameOfPermission(permission)}: ${error.message}`)
    }
  }
  const calls = carried.flatMap(({ statements }) => statements.map(({ sql }) => sql)).join('\n')
  const isCalled = ({ name }: Definer): boolean => calls.includes(`${qualified(permissionSchema, name)}(`)
  return { carried, definers: [...translation.definers.values()].filter(isCalled), left }
}

const bodyText = (body: string): string => (body.includes('$$') ? literal(body) : `$$ ${body} $$`)

/** The claims that session variables are, in the order in which they are looked up. */
const sessionSql = `create or replace function ${permissionSchema}.session(variable text) returns text
language plpgsql stable set search_path = '' as $$
declare
  claims jsonb := coalesce(nullif(current_setting('request.jwt.claims', true), ''), '{}');
  found text;
begin
  select claim.value into found
    from (values
      (1, claims -> 'https://hasura.io/jwt/claims'),
      (2, claims -> 'app_metadata'),
      (3, claims),
      (4, jsonb_build_object('x-hasura-user-id', claims -> 'sub'))
    ) holder (place, members),
    jsonb_each_text(case jsonb_typeof(members) when 'object' then members else '{}' end) claim
    where lower(claim.key) = variable and claim.value is not null
    order by place limit 1;
  if found is null then
    raise insufficient_privilege using message = 'the token has no claim ' || variable;
  end if;
  return found;
end $$`

/** The functions that policies call. @param roles all roles of Postgres that have permissions */
export function functionSql(
  definers: readonly Definer[],
  roles: readonly string[],
  roleOf: (role: string) => string,
): readonly ImportedStatement[] {
  const [schema, to] = [ident(permissionSchema), roles.map(ident).join(', ')]
  const plainly = (sql: string): ImportedStatement => ({ remarks: [], sql })
  return [
    {
      remarks: [
        'Session variables are claims of the token: of "https://hasura.io/jwt/claims", of app_metadata, or its own;',
        'x-hasura-user-id is otherwise its "sub". As in Hasura, a variable that is missing fails the request.',
      ],
      sql: `create schema if not exists ${schema}`,
    },
    plainly(sessionSql),
    plainly(`grant usage on schema ${schema} to ${to}`),
    ...definers.flatMap(({ name, table, body, schemas, roles: callers }) => {
      const row = table === null ? '' : qualified(table.schema, table.name)
      const signature = `${schema}.${ident(name)}(${row})`
      const path = ['pg_catalog', ...schemas].map(ident).join(', ')
      return [
        {
          remarks: ['It reads related rows that its callers cannot read, as permissions of Hasura do.'],
          sql: `create or replace function ${signature} returns boolean\nlanguage sql stable security definer set search_path = ${path} as ${bodyText(`select ${body}`)}`,
        },
        plainly(`revoke execute on function ${signature} from public`),
        plainly(
          `grant execute on function ${signature} to ${[...new Set([...callers].map(roleOf))].map(ident).join(', ')}`,
        ),
      ]
    }),
  ]
}
