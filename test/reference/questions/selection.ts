import type { ApiTable, RowField, UnionField } from '../interpreter/api-types.ts'
import { apiTableOf } from '../interpreter/api.ts'
import { argumentsOf } from '../interpreter/calls.ts'
import { linkOf } from '../interpreter/check.ts'
import { mayBeDeleted } from '../interpreter/deleted.ts'
import { fieldNameOf, isName } from '../interpreter/names.ts'
import { compositeNamed, hasAddition, type ColumnType } from '../interpreter/world.ts'
import { drawDeleted } from './deleted.ts'
import { drawFilter } from './filter.ts'
import { drawGroups } from './groups.ts'
import { isReference, place, printTree, type Tree } from './input.ts'
import { drawPage } from './page.ts'
import { toTree, type Scene } from './scene.ts'
import { drawWord } from './value-filter.ts'

/** The used response keys of one selection set. */
type Keys = Set<string>

/** A field's name with an alias where it must or may have one. */
function keyed(scene: Scene, keys: Keys, name: string, reusable = false): string {
  const isTaken = keys.has(name) && !reusable
  if (!isTaken && scene.apart !== true && !scene.draw.chance(12)) {
    keys.add(name)
    return name
  }
  const alias = `${scene.draw.pick(['a', 'id', '', 'x', 'constructor', '__proto__'])}_${scene.count()}`
  keys.add(alias)
  scene.tell('alias')
  return `${alias}: ${name}`
}

/** `@skip` and `@include` with conditions that mostly include the field. */
function directives(scene: Scene): string {
  const { draw } = scene
  if (!draw.chance(6)) return ''
  const [name, keeps] = draw.pick([
    ['include', true],
    ['skip', false],
  ] as const)
  scene.tell(`directive: @${name}`)
  return ` @${name}(if: ${printTree(place(scene, 'Boolean!', draw.chance(30) ? !keeps : keeps))})`
}

/** Puts a selection into a fragment occasionally. */
function wrapped(scene: Scene, type: string, selection: string): string {
  const { draw } = scene
  if (!draw.chance(6)) return selection
  const form = draw.int(3)
  scene.tell(`fragment: ${['bare', 'inline', 'named'][form]}`)
  if (form === 0) return `...${directives(scene)} { ${selection} }`
  if (form === 1) return `... on ${type}${directives(scene)} { ${selection} }`
  const name = `F${scene.count()}`
  scene.fragments.push(`fragment ${name} on ${type} { ${selection} }`)
  return `...${name}${directives(scene)}`
}

const several = (scene: Scene, type: string, selections: readonly string[]): string =>
  selections.map((selection) => wrapped(scene, type, selection)).join(' ')

export function drawRow(scene: Scene, table: ApiTable, depth: number): string {
  const { draw } = scene
  const keys: Keys = new Set()
  const plain = [...table.fields].filter(([, field]) => linkOf(field) === null && field.kind !== 'union')
  const unions = [...table.fields].flatMap(([name, field]) => (field.kind === 'union' ? [[name, field] as const] : []))
  const links = [...table.fields].filter(([, field]) => linkOf(field) !== null)
  const count = 1 + draw.int(3)
  const selections = Array.from({ length: count }, () => {
    const [name, field] = draw.pick([...plain].reverse())
    if (field.kind === 'nodeId') scene.tell('nodeId')
    if (field.kind === 'computed' && field.function.body.kind === 'computedSum') {
      scene.tell('function: computed value with an argument')
      // A field with arguments has its own key, so that it is not merged.
      return `given${scene.count()}: ${name}${printArguments(givenTo(scene, field))}`
    }
    if (field.kind === 'headline') {
      scene.tell('headline')
      // The omitted parts of an excerpt depend on the server.
      const args = new Map<string, Tree>([
        ['query', drawWord(draw)],
        ['config', 'simple'],
        ['whole', true],
        ...(draw.chance(50)
          ? [['start', place(scene, 'String', draw.pick(['«', '"', ', a="', "'\\", '<i>']))] as const]
          : []),
        ...(draw.chance(50) ? [['stop', place(scene, 'String', draw.pick(['»', '\\', '', '"" ']))] as const] : []),
      ])
      return `given${scene.count()}: ${name}${printArguments(args)}`
    }
    if (field.kind === 'column' && field.column.type.base === 'composite')
      return `${keyed(scene, keys, name, true)}${directives(scene)} ${drawComposite(scene, field.column.type)}`
    if (field.kind === 'computed') scene.tell('function: computed value')
    return `${keyed(scene, keys, name, true)}${directives(scene)}`
  })
  if (draw.chance(8)) selections.push(keyed(scene, keys, '__typename', true))
  if (draw.chance(6)) selections.push(`... on Node { ${keyed(scene, keys, 'nodeId', true)} }`)
  const related = depth === 0 ? [] : links.filter(() => draw.chance(45))
  if (draw.chance(25)) selections.push(...drawInterface(scene, [table.type]))
  for (const [name, field] of depth === 0 ? [] : unions.filter(() => draw.chance(60)))
    selections.push(drawUnion(scene, keys, name, field, depth - 1))
  for (const [name, field] of related) selections.push(drawRelation(scene, table, keys, name, field, depth - 1))
  return several(scene, table.type, selections)
}

/** Selections of some of its types, whose equally named fields mostly have other types. */
function drawUnion(scene: Scene, keys: Keys, name: string, field: UnionField, depth: number): string {
  const { draw } = scene
  const targets = [...new Set(field.of.map(({ target }) => target))].map((target) => apiTableOf(scene.api, target))
  scene.tell(`union: of ${targets.length}`)
  const members = draw
    .some(targets, 70)
    .map((target) => `... on ${target.type} { ${drawRow({ ...scene, apart: true }, target, depth)} }`)
  if (members.length === 0 || draw.chance(40)) members.push('__typename')
  if (draw.chance(20)) members.push('... on Node { nodeId }')
  members.push(
    ...drawInterface(
      scene,
      targets.map(({ type }) => type),
    ),
  )
  const deletable = targets.find(({ sketch }) => mayBeDeleted(sketch))
  const args = deletable === undefined ? '' : deletedText(scene, deletable)
  return `${keyed(scene, keys, name)}${args}${directives(scene)} { ${several(scene, field.type, members)} }`
}

/** Fields that an interface has of some of these types; their types may allow null where those of the tables do not. */
function drawInterface(scene: Scene, types: readonly string[]): readonly string[] {
  const { draw, api } = scene
  const usable = [...api.interfaces].filter(([name]) => types.some((type) => api.abstract.get(name)?.has(type)))
  if (usable.length === 0) return []
  const [name, fields] = draw.pick(usable)
  const plain = [...fields].filter(([, field]) => field.kind !== 'column' || field.column.type.base !== 'composite')
  const selections = draw.some(plain, 60).map(([field]) => keyed({ ...scene, apart: true }, new Set(), field))
  scene.tell(`interface: ${selections.length > 1 ? 'several fields' : 'a field'}`)
  return [wrapped(scene, name, `... on ${name} { ${[...selections, '__typename'].join(' ')} }`)]
}

function drawComposite(scene: Scene, type: ColumnType): string {
  const { draw, world } = scene
  scene.tell('composite')
  const usable = compositeNamed(world, type).attributes.filter(({ name }) =>
    isName(fieldNameOf(name, null, world.inflects)),
  )
  const chosen = draw.some(usable, 50)
  const selections = (chosen.length === 0 ? usable.slice(0, 1) : chosen).map(({ name, type: inner }) => {
    const field = fieldNameOf(name, null, world.inflects)
    return inner.base === 'composite' ? `${field} ${drawComposite(scene, inner)}` : field
  })
  return `{ ${[...selections, ...(draw.chance(10) ? ['__typename'] : [])].join(' ')} }`
}

function drawRelation(scene: Scene, table: ApiTable, keys: Keys, name: string, field: RowField, depth: number): string {
  const link = linkOf(field)
  if (link === null) throw new Error(`${table.type}.${name} leads to no rows`)
  const target = apiTableOf(scene.api, link.target)
  scene.tell(featureOf(table, field, link.many))
  const key = keyed(scene, keys, name)
  return link.many
    ? `${key}${drawConnection(scene, target, depth, givenTo(scene, field))}`
    : `${key}${field.kind === 'relation' ? deletedText(scene, target) : ''}${directives(scene)} { ${drawRow(scene, target, depth)} }`
}

/** The arguments of a computed field: each takes an integer. */
function givenTo(scene: Scene, field: RowField): ReadonlyMap<string, Tree> {
  const taken = field.kind === 'computed' ? (argumentsOf(scene.world, field.function) ?? []) : []
  return new Map(taken.map(({ name }) => [name, place(scene, 'Int!', scene.draw.int(9))]))
}

const deletedText = (scene: Scene, target: ApiTable): string => printArguments(new Map(drawDeleted(scene, target)))

function featureOf(table: ApiTable, field: RowField, many: boolean): string {
  if (field.kind === 'computed' && 'argument' in field.function.body) return 'function: computed set with an argument'
  if (field.kind !== 'relation') return `function: computed ${many ? 'set' : 'row'}`
  const self = field.target === table.sketch.name ? ', self' : ''
  const composite = field.local.length > 1 ? ', composite' : ''
  if (field.way !== undefined)
    return `relation: by ${field.way.through.length} between, ${many ? 'many' : 'one'}${self}`
  return `relation: ${field.direction} ${many ? 'many' : 'one'}${self}${composite}`
}

/** Arguments, directives and selections of a connection field. */
export function drawConnection(
  scene: Scene,
  table: ApiTable,
  depth: number,
  own: ReadonlyMap<string, Tree> = new Map(),
): string {
  const { draw } = scene
  const args = new Map<string, Tree>([...own, ...drawPage(scene, table), ...drawDeleted(scene, table)])
  const inner = mayBeEmpty(table, args) ? { ...scene, spoil: () => false } : scene
  if (table.sketch.sampled === true) args.set('filter', drawSampled(inner, table))
  else if (draw.chance(60)) args.set('filter', draw.chance(4) ? null : drawFilter(inner, table))
  return `${printArguments(args)}${directives(scene)} { ${drawMembers(inner, table, depth)} }`
}

/** Of a sampled table only known rows may be requested; any condition may accompany that. */
function drawSampled(scene: Scene, table: ApiTable): Tree {
  const { draw } = scene
  const key = [...table.filters].find(([, column]) => column.name === table.sketch.primaryKey[0])
  if (key === undefined) throw new Error(`${table.type} cannot be asked for by its key`)
  const [name, column] = key
  const position = table.sketch.columns.indexOf(column)
  const keys = Array.from({ length: 1 + draw.int(8) }, () => draw.pick(table.sketch.rows)[position] ?? null)
  const trees = keys.flatMap((value) => (value === null ? [] : [toTree(scene, column.type, value)]))
  const known = new Map([[name, new Map([['in', trees]])]])
  return draw.chance(60) ? new Map([['and', [known, drawFilter(scene, table, 2, `${table.type}Filter!`)]]]) : known
}

/**
 * Operands that an empty page would never use need not be refused: operands that are too long are detected when they
 * are sent.
 */
const mayBeEmpty = (table: ApiTable, args: ReadonlyMap<string, Tree>): boolean =>
  table.maxRows === 0 ||
  ['first', 'last'].map((name) => args.get(name)).some((size) => size === 0 || isReference(size ?? null))

export const printArguments = (args: ReadonlyMap<string, Tree>): string =>
  args.size === 0 ? '' : `(${[...args].map(([name, tree]) => `${name}: ${printTree(tree)}`).join(', ')})`

function drawMembers(scene: Scene, table: ApiTable, depth: number): string {
  const { draw } = scene
  const keys: Keys = new Set()
  const members = [`${keyed(scene, keys, 'edges')} { ${drawEdge(scene, table, depth)} }`]
  if (draw.chance(60)) {
    const optional = draw.some(['hasPreviousPage', 'startCursor', 'endCursor', '__typename'], 70)
    members.push(`${keyed(scene, keys, 'pageInfo', true)} { ${[...optional, 'hasNextPage'].join(' ')} }`)
  }
  if (draw.chance(12)) {
    scene.tell('two selections of edges')
    // Merges with the first one where neither has an alias; plain columns have no arguments to differ in.
    members.push(
      `${draw.chance(50) ? `again${scene.count()}: ` : ''}edges { cursor node { ${drawRow(scene, table, 0)} } }`,
    )
  }
  if (table.sketch.totalCount && draw.chance(40)) {
    scene.tell('totalCount')
    members.push(keyed(scene, keys, 'totalCount'))
  }
  if (table.sketch.aggregate && draw.chance(40))
    members.push(`${keyed(scene, keys, 'aggregate')} { ${drawAggregate(scene, table)} }`)
  if (hasAddition(scene.world, table.sketch, 'groups') && draw.chance(45)) members.push(...drawGroups(scene, table))
  if (draw.chance(5)) members.push('__typename')
  return several(scene, `${table.type}Connection`, draw.chance(50) ? members.reverse() : members)
}

function drawEdge(scene: Scene, table: ApiTable, depth: number): string {
  const node = `node { ${drawRow(scene, table, depth)} }`
  const between = [...table.between].filter(() => scene.draw.chance(40))
  if (between.length > 0) scene.tell('between')
  const members = [
    ...between.map(([name, through]) => `${name} { ${drawRow(scene, apiTableOf(scene.api, through), 0)} }`),
    ...(scene.draw.chance(50) ? [node, 'cursor'] : [node]),
  ]
  return several(scene, `${table.type}Edge`, members)
}

function drawAggregate(scene: Scene, table: ApiTable): string {
  const { draw } = scene
  const members = ['count']
  for (const [name, columns] of table.aggregates) {
    const fields = draw.some([...columns.keys()], 40)
    if (fields.length === 0 || !draw.chance(50)) continue
    scene.tell(`aggregate: ${name}`)
    members.push(`${name} { ${fields.join(' ')}${draw.chance(5) ? ' __typename' : ''} }`)
  }
  return members.join(' ')
}
