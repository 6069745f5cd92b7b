import type { ApiTable, RootField, RowWrite } from '../interpreter/api-types.ts'
import { relatedArgument } from '../interpreter/related-api.ts'
import type { ColumnSketch, Value } from '../interpreter/world.ts'
import { drawDeleted } from './deleted.ts'
import { drawCall } from './function-call.ts'
import { drawChanges } from './changes.ts'
import { drawFilter } from './filter.ts'
import { absent, place, type Branch, type Tree } from './input.ts'
import { withKey, drawnRow, keyValues, type SketchRow } from './key-arguments.ts'
import { drawNested, rootSpot, type Drawing } from './nested.ts'
import { drawRelated, type RelatedDrawing } from './related-changes.ts'
import { columnValue, inputType, isWritable, toTree, type Scene } from './scene.ts'
import { drawRow, printArguments } from './selection.ts'

/** Inserts, updates and deletes (spec/graphql.md 10). */

export function drawWrite(scene: Scene, field: RootField): string {
  const { draw } = scene
  scene.tell(`root: ${field.kind}`)
  if (field.kind === 'node' || field.kind === 'collections') throw new Error(`${field.kind} is no mutation`)
  if (field.kind === 'call') return drawCall(scene, field.function, 0)
  if (field.kind === 'updateRow' || field.kind === 'deleteRow' || field.kind === 'updateRows')
    return drawRowWrite(scene, field)
  const args = new Map<string, Tree>()
  if (field.kind === 'insert') {
    const meeting = field.table.conflicts.size > 0 && draw.chance(65)
    args.set('objects', drawObjects(scene, field.table, meeting))
    if (meeting) args.set('onConflict', drawConflict(scene, field.table))
  }
  if (field.kind === 'update')
    for (const [name, tree] of [...changesOf(scene, field.table), ...drawDeleted(scene, field.table)])
      args.set(name, tree)
  if (field.kind !== 'insert') {
    if (!draw.chance(15)) args.set('filter', drawFilter(scene, field.table, 1))
    if (!draw.chance(15)) args.set('atMost', place(scene, 'Int!', draw.pick([10, 1, 2, 0, 100])))
  }
  // A role that only inserts has no records.
  if (field.table.fields.size === 0) {
    scene.tell('insert: of a role that reads nothing')
    return `${printArguments(args)} { ${draw.pick(['affectedCount', '__typename'])} }`
  }
  const records = `records { ${drawRow(scene, field.table, draw.pick([0, 1, 2]))} }`
  const members = draw.pick([
    ['affectedCount', records],
    [records],
    ['affectedCount'],
    ['affectedCount', records, '__typename'],
  ])
  return `${printArguments(args)} { ${members.join(' ')} }`
}

const changesOf = (scene: Scene, table: ApiTable): ReadonlyMap<string, Tree> =>
  drawChanges(scene, table, (isFree) => drawSet(scene, table, isFree))

/** A change by key, or of many rows. */
function drawRowWrite(scene: Scene, field: RowWrite): string {
  const { kind, table, key } = field
  const { draw } = scene
  const depth = draw.pick([0, 1, 2])
  if (kind !== 'updateRows') {
    const row = drawnRow(scene, table)
    const changes = kind === 'updateRow' ? [...drawDeleted(scene, table), ...changesOfRow(scene, field, row)] : []
    return `${printArguments(withKey(changes, keyValues(scene, table, key, row)))} { ${drawRow(scene, table, depth)} }`
  }
  const rows = Array.from({ length: scene.spoil() ? 0 : draw.pick([2, 1, 3]) }, () => {
    const entries: readonly (readonly [string, Tree])[] = [
      ...keyValues(scene, table, key),
      ['set', drawSet(scene, table, () => true)],
    ]
    return new Map(entries)
  })
  const args = new Map<string, Tree>([
    ['rows', place(scene, `[${table.type}RowInput!]!`, rows)],
    ['atMost', place(scene, 'Int!', draw.pick([10, 3, 1]))],
    ...drawDeleted(scene, table),
  ])
  return `${printArguments(args)} { affectedCount records { ${drawRow(scene, table, depth)} } }`
}

/** The changes of an update by key, mostly with related rows if supported. */
function changesOfRow(scene: Scene, field: RowWrite, row: SketchRow | undefined): ReadonlyMap<string, Tree> {
  const { draw, world, api } = scene
  const { table } = field
  if (relatedArgument(world, api, field).length === 0 || draw.chance(30)) return changesOf(scene, table)
  const drawing: RelatedDrawing = {
    row: (inner, given, isMet) => drawObject(scene, inner, isMet, given),
    conflictAt: conflictsByPlace(scene),
    set: (inner, isFree) => drawSet(scene, inner, isFree),
  }
  const related = drawRelated(scene, field, drawing, row)
  if (draw.chance(50)) return new Map([['related', related.tree]])
  const free = [...table.updates.values()].filter(({ name }) => !related.given.has(name))
  if (free.length === 0) return new Map([['related', related.tree]])
  return new Map([
    ['set', drawSet(scene, table, ({ name }) => !related.given.has(name))],
    ['related', related.tree],
  ])
}

interface ConflictWords {
  readonly key: string
  readonly fields: readonly string[]
  /** The arguments for deleted rows. */
  readonly deleted: readonly (readonly [string, Tree])[]
}

/** The treatment of existing rows. */
function drawConflictWords(scene: Scene, table: ApiTable): ConflictWords {
  const { draw } = scene
  const fields = draw.chance(25) ? [] : draw.some([...table.takeovers.keys()], 50)
  const [key, unique] = draw.pick([...table.conflicts])
  const kind = unique.where === null ? '' : ', partial key'
  scene.tell(`upsert: ${fields.length === 0 ? 'leaves alone' : 'updates'}${kind}`)
  return { key, fields, deleted: table.takeovers.size > 0 ? drawDeleted(scene, table) : [] }
}

function conflictTree(
  scene: Scene,
  table: ApiTable,
  { key, fields, deleted }: ConflictWords,
  isConditional: boolean,
): Tree {
  const { draw } = scene
  const entries = new Map<string, Tree>([['constraint', { word: key }], ...deleted])
  if (fields.length > 0 || (table.takeovers.size > 0 && draw.chance(30))) {
    entries.set(
      'updateFields',
      place(
        scene,
        `[${table.type}UpdateField!]`,
        fields.map((word) => ({ word })),
      ),
    )
  }
  if (isConditional && table.takeovers.size > 0) entries.set('filter', drawFilter(scene, table, 1))
  return place(scene, `${table.type}OnConflict`, entries)
}

function drawConflict(scene: Scene, table: ApiTable): Tree {
  const { draw } = scene
  if (draw.chance(4)) return null
  return conflictTree(scene, table, drawConflictWords(scene, table), draw.chance(30))
}

/** Of one insert: related rows at one place take one `onConflict`. */
function conflictsByPlace(scene: Scene): Drawing['conflictAt'] {
  const { draw } = scene
  const known = new Map<string, ConflictWords | null>()
  return (at, table) => {
    const before = draw.chance(3) && scene.spoil() ? undefined : known.get(at)
    const isSaid = table.conflicts.size > 0 && draw.chance(35)
    const words = before === undefined ? (isSaid ? drawConflictWords(scene, table) : null) : before
    known.set(at, words)
    const isConditional = before === undefined && draw.chance(10) && scene.spoil()
    return words === null ? undefined : () => conflictTree(scene, table, words, isConditional)
  }
}

/** @param meeting whether rows often have the key of an existing one */
function drawObjects(scene: Scene, table: ApiTable, meeting: boolean): Tree {
  const { draw } = scene
  if (scene.spoil()) {
    scene.tell('refusal: nothing to insert')
    return []
  }
  const drawing: Drawing = {
    row: (inner, given, isMet) => drawObject(scene, inner, isMet, given),
    conflictAt: conflictsByPlace(scene),
  }
  const objects = Array.from({ length: draw.pick([1, 2, 3]) }, () =>
    drawNested(scene, table, drawing, rootSpot(meeting)),
  )
  const [only] = objects
  if (objects.length > 1) scene.tell('insert: several objects')
  const tree: Tree = objects.length === 1 && only !== undefined && draw.chance(30) ? only : objects
  return place(scene, `[${table.type}InsertInput!]!`, tree)
}

/** Values for a new row: mostly valid ones, so that many inserts succeed. */
function drawObject(scene: Scene, table: ApiTable, meeting: boolean, given: ReadonlySet<string>): Branch {
  const { draw } = scene
  const parents = new Map([...drawParents(scene, table), ...(meeting ? drawTwin(scene, table) : [])])
  const entries = [...table.inserts].flatMap(([name, column]): [string, Tree][] => {
    if (given.has(column.name) && !(draw.chance(3) && scene.spoil())) return []
    const isNeeded =
      (column.notNull && column.fallback.kind === 'none') || table.sketch.primaryKey.includes(column.name)
    if (!isNeeded && draw.chance(40)) return []
    return [[name, drawCell(scene, table, column, isNeeded, parents)]]
  })
  if (entries.length === 0) scene.tell('insert: {}')
  return new Map(entries)
}

/** Mostly the cells of a row that is there. */
function drawTwin({ draw }: Scene, table: ApiTable): readonly (readonly [string, Exclude<Value, null>])[] {
  const { rows, columns } = table.sketch
  if (rows.length === 0 || draw.chance(25)) return []
  const row = draw.pick(rows)
  const kept = columns.filter(({ name }) => table.sketch.primaryKey.includes(name) || draw.chance(40))
  return kept.flatMap((column) => {
    const value = row[columns.indexOf(column)] ?? null
    return value === null ? [] : [[column.name, value] as const]
  })
}

/** For each foreign key the columns of a row that is there. */
function drawParents(scene: Scene, table: ApiTable): ReadonlyMap<string, Exclude<Value, null>> {
  return new Map(
    table.sketch.foreignKeys.flatMap((key) => {
      const target = scene.world.tables.find((item) => item.name === key.target)
      const row = target === undefined || target.rows.length === 0 ? undefined : scene.draw.pick(target.rows)
      return key.columns.flatMap((column, index) => {
        const position = target?.columns.findIndex((item) => item.name === key.targetColumns[index]) ?? -1
        const value = row?.[position] ?? null
        return value === null ? [] : [[column, value] as const]
      })
    }),
  )
}

function drawCell(
  scene: Scene,
  table: ApiTable,
  column: ColumnSketch,
  isNeeded: boolean,
  parents: ReadonlyMap<string, Exclude<Value, null>>,
): Tree {
  const { draw } = scene
  const type = column.type.list ? `[${inputType(scene, column.type)}]` : inputType(scene, column.type)
  if (!isNeeded && draw.chance(6)) return absent(scene, type)
  if (draw.chance(isNeeded ? 2 : 15)) return place(scene, type, null)
  if (column.type.base === 'varchar(5)' && !column.type.list && scene.spoil()) return 'too long'
  const parent = parents.get(column.name)
  const value = parent !== undefined && !draw.chance(5) ? parent : freshValue(scene, table, column)
  if (value === undefined || !isWritable(scene, column.type, value)) return null
  return place(scene, type, toTree(scene, column.type, value))
}

/** Keys mostly get a value that no row has. */
function freshValue(scene: Scene, table: ApiTable, column: ColumnSketch): Exclude<Value, null> | undefined {
  const isKey = table.sketch.primaryKey.includes(column.name)
  if (isKey && column.type.base === 'int4' && !column.type.list && !scene.draw.chance(10)) return 500 + scene.count()
  if (isKey && column.type.base === 'text' && !column.type.list && !scene.draw.chance(10)) return `new ${scene.count()}`
  return columnValue(scene, table, column, true)
}

/** @param isFree which columns it may name */
function drawSet(scene: Scene, table: ApiTable, isFree: (column: ColumnSketch) => boolean): Tree {
  const { draw } = scene
  if (scene.spoil()) {
    scene.tell('refusal: nothing to set')
    return new Map()
  }
  const parents = drawParents(scene, table)
  const fields = [...table.updates].filter(
    ([, column]) => isFree(column) && (!table.sketch.primaryKey.includes(column.name) || draw.chance(15)),
  )
  const chosen = draw.some(fields, 50)
  const used = chosen.length > 0 || fields.length === 0 ? chosen : [draw.pick(fields)]
  return place(
    scene,
    `${table.type}UpdateInput!`,
    new Map(used.map(([name, column]) => [name, drawCell(scene, table, column, column.notNull, parents)])),
  )
}
