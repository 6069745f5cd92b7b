import type { CheckableText, PreparedText, TenantPlace } from '../../contract/execution.ts'
import type { Engine } from '../../engine/engine.ts'
import { bare } from '../../sql/ident.ts'
import { object, toJson, built, isBuilt } from '../../sql/json.ts'
import { print, printOpen, type PlacedHole, type Printed } from '../../sql/print.ts'
import {
  joined,
  selectList,
  sql,
  trusted,
  type Pair,
  type Select,
  type SelectList,
  type Sql,
  select,
} from '../../sql/tree.ts'
import type { Plan, Root, RowMember } from '../plan/plan-nodes.ts'
import type { WatchedRead } from '../plan/watched-reads.ts'
import type { Value } from '../plan/values.ts'
import { collectionObject } from './collection.ts'
import { collectionsObject } from './collections.ts'
import { ofMeant } from './meant.ts'
import { compileFilter, keyEquals } from './filter.ts'
import { ofKeyed, createWriter, passArguments, relationOf, type Note, type Writer, readFor } from './source.ts'
import { valuesOf, named } from './parameters.ts'
import { firstOf, resultValue, rowObject, rowFrom, rowPairs } from './rows.ts'
import { ofTenant, withKey } from './tenants.ts'
import { noneChanged, writeStatement } from './writes.ts'

/** s4: a statement as it is prepared, and the source of each parameter. */
export type Statement = CheckableText & Parameters

interface Parameters {
  readonly values: readonly Value[]
  /** The parts of the text that depend on page sizes; absent: none. */
  readonly holes?: readonly PlacedHole[]
  /** The parameters that come from claims; absent: none. */
  readonly tenants?: readonly TenantPlace[] | undefined
  /** Of an update or a delete on a distributed database: its answer if it changes no row. */
  readonly unchanged?: string
}

/** A piece of the response's `data`, in order. */
export type Piece =
  | { readonly kind: 'constant'; readonly key: string; readonly json: string }
  /** Several constants, as members of an object without its brackets. */
  | { readonly kind: 'constants'; readonly json: string }
  /** The member's value is a column of a statement's row; null becomes JSON null. */
  | {
      readonly kind: 'column'
      readonly key: string
      readonly statement: number
      readonly column: number
      /** For each statement of the field, of which this is the last, the path in its arguments. */
      readonly about?: readonly (readonly string[] | undefined)[]
      /** One of them consists of several steps, and the failed one is unknown. */
      readonly several?: true
    }
  /** The column holds an object whose members belong here. */
  | { readonly kind: 'members'; readonly statement: number; readonly column: number }

export interface Statements {
  readonly writes: boolean
  /** The same with a separate statement for each step; absent: there are no combined steps. */
  readonly inSteps?: Pick<Statements, 'statements' | 'pieces'>
  readonly statements: readonly Statement[]
  readonly pieces: readonly Piece[]
  /** Of a subscription: its reads. */
  readonly reads?: readonly WatchedRead[] | undefined
}

/** The structure of the answer. */
export type Outline = Pick<Statements, 'writes' | 'pieces'>

export const inSteps = ({ inSteps: steps, ...whole }: Statements): Statements => ({ ...whole, ...steps })

/** The same answer from fewer pieces: adjacent constants are combined. */
export function joinConstants({ inSteps: steps, ...whole }: Statements): Statements {
  const joined = { ...whole, pieces: joinedPieces(whole) }
  return steps === undefined ? joined : { ...joined, inSteps: { ...steps, pieces: joinedPieces(steps) } }
}

function joinedPieces({ pieces }: Pick<Statements, 'pieces'>): readonly Piece[] {
  const joined: Piece[] = []
  let run: string[] = []
  const flush = (): void => {
    if (run.length > 0) joined.push({ kind: 'constants', json: run.join(',') })
    run = []
  }
  for (const piece of pieces) {
    if (piece.kind === 'constant') run.push(`"${piece.key}":${piece.json}`)
    else {
      flush()
      joined.push(piece)
    }
  }
  flush()
  return joined
}

/** The part of an engine that writing statements needs. */
export type StatementEngine = Pick<Engine, 'entity' | 'call' | 'manifest' | 'additions'>

type SqlRoot = Exclude<Root, { kind: 'constant' }>

/** A select list holds 1,664 columns at most; documents with more root fields get them as members of objects. */
const maxColumns = 1_000

/**
 * s3 to s4. A query is one statement; each field of a mutation is one, run in order, each seeing the earlier ones.
 * @param byStep true: each step of a field is a separate statement, even if they could be combined
 */
export function toStatements(
  engine: StatementEngine,
  role: string,
  plan: Plan,
  notes: Notes = nothingNoted,
  byStep = false,
): Statements {
  if (plan.writes) {
    const mayRunTwice = plan.roots.every(
      (root) => root.kind === 'constant' || writtenRoot(engine, root).whole !== undefined,
    )
    const whole = forMutation(engine, role, plan, notes, byStep || !mayRunTwice)
    const isWhole = whole.pieces.every((piece) => piece.kind !== 'column' || piece.several !== true)
    return isWhole ? whole : { ...whole, inSteps: forMutation(engine, role, plan, nothingNoted, true) }
  }
  const statements = forQuery(engine, role, plan, notes)
  return plan.reads === undefined ? statements : { ...statements, reads: plan.reads }
}

/** Receives facts about each statement while it is written. */
export type Notes = (statement: number) => Note

const parts = { row: rowObject, filter: compileFilter }

const nothingNoted: Notes = () => () => undefined

/** The statements of a root field of a mutation, run in order. */
export interface WrittenRoot {
  readonly steps: Writing
  /** Fewer, without effects beyond the transaction, so that the request may be tried again by steps; absent: none. */
  readonly whole?: Writing
  /** Of a change on a distributed database: its answer if it changes no row. */
  readonly unchanged?: string
}

/** The last of them answers the field. */
interface Writing extends Pick<Extract<Piece, { kind: 'column' }>, 'about' | 'several'> {
  readonly statements: readonly ((writer: Writer) => SelectList)[]
}

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    /** Writes the roots that it plans; null: one of another kind. */
    readonly writeRoot?: (root: Root) => WrittenRoot | null
  }
}

function writtenRoot({ additions }: StatementEngine, root: SqlRoot): WrittenRoot {
  const [added] = additions.list.flatMap((one) => one.writeRoot?.(root) ?? [])
  if (added !== undefined) return added
  if (root.kind !== 'insert' && root.kind !== 'update' && root.kind !== 'delete')
    return { steps: { statements: [(writer) => selectList([{ value: rootJson(writer, root), as: bare('r') }])] } }
  const steps = { statements: [(writer: Writer) => writeStatement(writer, root)] }
  return root.kind === 'insert' ? { steps } : { steps, unchanged: noneChanged(root) }
}

function forMutation(engine: StatementEngine, role: string, plan: Plan, notes: Notes, byStep: boolean): Statements {
  const statements: Statement[] = []
  const pieces = plan.roots.map((root): Piece => {
    if (root.kind === 'constant') return root
    const { steps, whole = steps, unchanged } = writtenRoot(engine, root)
    const { statements: writes, ...about } = byStep ? steps : whole
    const known = engine.manifest.distributed === undefined || unchanged === undefined ? {} : { unchanged }
    for (const write of writes) {
      const writer = createWriter(engine, role, parts, notes(statements.length))
      statements.push({ ...printed(engine, role, write(writer)), ...known })
    }
    return { kind: 'column', key: root.key, statement: statements.length - 1, column: 0, ...about }
  })
  return { writes: true, statements, pieces }
}

function forQuery(engine: StatementEngine, role: string, plan: Plan, notes: Notes): Statements {
  const writer = createWriter(engine, role, parts, notes(0))
  const oneRow = oneRowOf(writer, plan)
  if (oneRow !== null) return forOneRow(role, plan, selectRow(writer, oneRow))
  const columns: Sql[] = []
  const isWide = plan.roots.length > maxColumns
  const pieces = isWide
    ? widePieces(writer, plan.roots, columns)
    : plan.roots.map((root) => piece(writer, root, columns))
  const statement = selectList(columns.map((value, index) => ({ value, as: bare('r', index + 1) })))
  return { writes: false, statements: columns.length === 0 ? [] : [printed(engine, role, statement)], pieces }
}

const forOneRow = (role: string, { roots }: Plan, row: Select): Statements => ({
  writes: false,
  statements: [statementOf(role, print(row, 'json'))],
  pieces: roots.map((root) =>
    root.kind === 'constant' ? root : { kind: 'column', key: root.key, statement: 0, column: 0 },
  ),
})

function piece(writer: Writer, root: Root, columns: Sql[]): Piece {
  if (root.kind === 'constant') return root
  columns.push(rootJson(writer, root))
  return { kind: 'column', key: root.key, statement: 0, column: columns.length - 1 }
}

/** Consecutive root fields that need the database become one object each. */
function widePieces(writer: Writer, roots: readonly Root[], columns: Sql[]): readonly Piece[] {
  const pieces: Piece[] = []
  let run: Pair[] = []
  const flush = (): void => {
    if (run.length === 0) return
    columns.push(toJson(object(run)))
    pieces.push({ kind: 'members', statement: 0, column: columns.length - 1 })
    run = []
  }
  for (const root of roots) {
    if (root.kind === 'constant') {
      flush()
      pieces.push(root)
    } else {
      run.push([root.key, rootValue(writer, root)])
      if (run.length >= maxColumns) flush()
    }
  }
  flush()
  return pieces
}

/** The value of a root field as an expression of type json: a statement's result type must never change (0A000). */
const rootJson = (writer: Writer, root: SqlRoot): Sql => toJson(rootValue(writer, root))

function rootValue(writer: Writer, root: SqlRoot): Sql {
  if (root.kind === 'collection')
    return collectionObject(writer, root.collection, {
      of: relationOf(writer.engine.entity(root.collection.entity.id)),
      isFunction: false,
      volatile: false,
      parent: null,
    })
  if (root.kind === 'collections') return collectionsObject(writer, root.of)
  if (root.kind === 'by-key')
    return rowFrom(writer, root.row, (scope) => ({
      of: relationOf(scope.builder),
      where: [
        keyEquals(lookedUpBy(root), root.values)(scope),
        ...ofKeyed(scope, lookedUpBy(root)),
        ...ofMeant(scope, root.meant),
        ...ofTenant(scope),
      ],
      ...firstOf(root.by ?? scope.entity),
      found: withKey(scope, lookedUpBy(root), root.values),
    }))
  if (!('call' in root)) throw new Error(`${root.kind} stands only in mutations`)
  const builder = writer.engine.call(root.call)
  const passed = passArguments(root.call, builder.args, root.args)
  return resultValue(writer, root, builder, sql`${trusted(builder.name)}(${joined(passed, ', ')})`)
}

function printed({ manifest }: StatementEngine, role: string, statement: SelectList): Statement {
  const made = printOpen(statement, manifest.distributed !== undefined ? 'json' : 'record')
  return { ...statementOf(role, made), carriesCheck: true }
}

function statementOf<Text extends string>(role: string, made: Printed<Text>): PreparedText<Text> & Parameters {
  const values = valuesOf(made)
  const tenants = values.flatMap(({ slot }, at) =>
    slot.kind === 'tenant' ? [{ at, expression: slot.expression }] : [],
  )
  return {
    ...named(role, made.text),
    values,
    ...(made.holes !== undefined && { holes: made.holes }),
    ...(tenants.length > 0 && { tenants }),
  }
}

/**
 * A row of a distributed table by its key. Citus plans a statement once for all its values if it reads one table, names
 * the tenant once and has no sub-select (its fast path); it plans every other statement on each run.
 */

type ByKey = Extract<Root, { kind: 'by-key' }>

/** SQL names of the columns whose values are given. */
const lookedUpBy = ({ by, row }: ByKey): readonly string[] => by?.columns ?? row.entity.key

/** Members that are written without a sub-select. */
const isPlainMember = ({ kind }: RowMember): boolean => kind === 'column' || kind === 'typename' || kind === 'node-id'

/** The only database field of a document; null if there are several, or if it is not such a row. */
function oneRowOf({ engine }: Writer, { roots }: Plan): ByKey | null {
  const [root, ...others] = roots.filter(({ kind }) => kind !== 'constant')
  if (engine.manifest.distributed === undefined || root?.kind !== 'by-key' || others.length > 0) return null
  const { entity, members } = root.row
  const namesTenant = entity.tenant !== undefined && lookedUpBy(root).includes(entity.tenant.column)
  return namesTenant && isBuilt(members) && members.every(isPlainMember) ? root : null
}

/** The row as a column of type json; no row if it does not exist. Policies apply on the row's server. */
function selectRow(writer: Writer, root: ByKey): Select {
  const { row, values } = root
  const scope = readFor(writer, row.entity, row)
  return select([{ value: built(rowPairs(writer, row, scope)), as: bare('r', 1) }], {
    from: [{ of: relationOf(scope.builder), alias: scope.alias }],
    where: [
      keyEquals(lookedUpBy(root), values)(scope),
      ...ofKeyed(scope, lookedUpBy(root)),
      ...ofMeant(scope, root.meant),
    ],
    ...firstOf(root.by ?? row.entity),
  })
}
