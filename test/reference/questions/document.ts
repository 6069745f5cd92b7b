import type fc from 'fast-check'
import type { RootField } from '../interpreter/api-types.ts'
import { apiOf } from '../interpreter/api.ts'
import { relatedArgument } from '../interpreter/related-api.ts'
import { encodeToken } from '../interpreter/tokens.ts'
import type { Json, Question, Role, World } from '../interpreter/world.ts'
import { drawCall } from './function-call.ts'
import { drawCollected } from './collected.ts'
import { drawDeletedNode } from './deleted.ts'
import { choices, drawFrom, type Draw } from './draw.ts'
import { drawToken } from './filter.ts'
import { place, type Tree } from './input.ts'
import { isWritableKey, keyArguments } from './key-arguments.ts'
import type { Scene } from './scene.ts'
import { drawConnection, drawRow, printArguments } from './selection.ts'
import { asSubscription } from './subscription.ts'
import { drawVariant } from './variant.ts'
import { drawWrite } from './mutations.ts'

/** A document for a role, and the features of the specification in it. */
export interface Drawn {
  readonly question: Question
  /** The same document with other variables. */
  readonly again: Question
  readonly features: readonly string[]
  readonly writes: boolean
}

/** Roles that see something of the world. */
export const usefulRoles = (world: World): readonly Role[] =>
  Object.keys(world.tables[0]?.grants ?? {}).filter((role) => apiOf(world, role).tables.length > 0)

/** Documents for a world of which some role sees something. */
export const questions = (world: World): fc.Arbitrary<Drawn> =>
  choices(400).map((numbers) => drawQuestion(drawFrom(numbers), world))

export function drawQuestion(draw: Draw, world: World): Drawn {
  const role = draw.pick(usefulRoles(world))
  const api = apiOf(world, role)
  const features: string[] = []
  const tell = (feature: string): void => void features.push(feature)
  const values: Record<string, Json> = {}
  let count = 0
  let spoiled = !draw.chance(8)
  const scene: Scene = {
    draw,
    world,
    api,
    tell,
    variables: { declarations: [], values },
    fragments: [],
    count: () => (count += 1),
    spoil: () => {
      if (spoiled || !draw.chance(40)) return false
      spoiled = true
      return true
    },
  }
  const writes = api.mutation.size > 0 && draw.chance(35)
  const fields = writes ? drawMutation(scene) : drawQuery(scene)
  const kind = writes ? 'mutation' : 'query'
  const body = ` {\n  ${fields.join('\n  ')}\n}`
  const fragments = usedFragments(body, scene.fragments)
  const declarations = scene.variables.declarations.filter((item) => isUsed([body, ...fragments].join('\n'), item))
  const head = `${kind} Q${declarations.length === 0 ? '' : `(${declarations.join(', ')})`}`
  const other = draw.chance(4) ? '\nquery Other { __typename }' : ''
  const document = [`${head}${body}${other}`, ...fragments].join('\n')
  const claims = { sub: draw.pick(['a', 'b', 'A', '']) }
  const operationName = other === '' ? null : 'Q'
  const asked = { role, claims, document, variables: values, operationName }
  const question = world.live === true && draw.chance(50) ? (asSubscription(asked) ?? asked) : asked
  if (question !== asked) tell('subscription')
  return { question, again: drawVariant(draw, question), features, writes }
}

/** Unused draws leave no trace: an unused variable or fragment would be refused. */
const isUsed = (text: string, declaration: string): boolean =>
  new RegExp(`\\${declaration.slice(0, declaration.indexOf(':'))}\\b`).test(text)

function usedFragments(body: string, fragments: readonly string[]): readonly string[] {
  const used = fragments.filter((fragment) => {
    const name = fragment.split(' ')[1] ?? ''
    return new RegExp(`\\.\\.\\.${name}\\b`).test([body, ...fragments.filter((other) => other !== fragment)].join('\n'))
  })
  return used.length === fragments.length ? fragments : usedFragments(body, used)
}

/** Every root field has its own response key: fields of one key would need the same arguments. */
const aliased = (scene: Scene, first: boolean, name: string): string =>
  first && !scene.draw.chance(15) ? name : `r${scene.count()}: ${name}`

function drawQuery(scene: Scene): readonly string[] {
  const { draw } = scene
  const fields = [...scene.api.query].filter(([, field]) => isAsked(scene, field))
  const collections = fields.filter(([, field]) => field.kind === 'collection' || field.kind === 'collections')
  const count = draw.pick([1, 1, 1, 2, 3])
  return Array.from({ length: count }, (_, index) => {
    const [name, field] = draw.chance(25)
      ? draw.pick(fields)
      : draw.pick(collections.length === 0 ? fields : collections)
    return `${aliased(scene, index === 0, name)}${drawRoot(scene, field)}`
  })
}

/** Not all rows of a sampled table are known, it may have no table, and keys of unknown types cannot be written. */
function isAsked(scene: Scene, field: RootField): boolean {
  switch (field.kind) {
    case 'collections':
      return field.collected.of.every(({ sketch }) => sketch.sampled !== true)
    case 'node':
      return scene.api.tables.length > 0
    case 'byKey':
      return isWritableKey(scene, field.table.keyArguments ?? new Map())
    case 'lookup':
      return isWritableKey(scene, field.columns)
    case 'collection':
    case 'call':
    case 'insert':
    case 'update':
    case 'updateRow':
    case 'updateRows':
    case 'delete':
    case 'deleteRow':
      return true
  }
}

function drawRoot(scene: Scene, field: RootField): string {
  const { draw } = scene
  const depth = draw.pick([1, 2, 0, 3])
  scene.tell(`root: ${field.kind}`)
  switch (field.kind) {
    case 'call':
      return drawCall(scene, field.function, depth)
    case 'collection':
      return drawConnection(scene, field.table, depth)
    case 'collections':
      return drawCollected(scene, field.collected, depth)
    case 'byKey':
      return `${keyArguments(scene, field.table, field.table.keyArguments ?? new Map())} { ${drawRow(scene, field.table, depth)} }`
    case 'lookup':
      return `${keyArguments(scene, field.table, field.columns)} { ${drawRow(scene, field.table, depth)} }`
    case 'node':
      return drawNode(scene, depth)
    case 'insert':
    case 'update':
    case 'delete':
    case 'updateRow':
    case 'deleteRow':
    case 'updateRows':
      throw new Error(`${field.kind} is no query`)
  }
}

function drawNode(scene: Scene, depth: number): string {
  const { draw } = scene
  const tables = scene.api.tables
  const table = draw.pick(tables)
  const spoiled = scene.spoil()
  if (spoiled) scene.tell('refusal: node id')
  const token = spoiled
    ? draw.pick(['WzFd', '', '%', encodeToken(['"public"', '"no such table"', '1'])])
    : drawToken(scene, table)
  // Fields of one key must be compatible even between exclusive types, so the others get their own keys.
  const others = draw.some(tables, 30).filter((item) => item !== table)
  const parts = [
    `... on ${table.type} { ${drawRow(scene, table, depth)} }`,
    ...others.map((item) => `... on ${item.type} { n${scene.count()}: nodeId }`),
  ]
  const args = new Map<string, Tree>([['nodeId', place(scene, 'ID!', token)], ...drawDeletedNode(scene)])
  return `${printArguments(args)} { nodeId __typename ${parts.join(' ')} }`
}

function drawMutation(scene: Scene): readonly string[] {
  const { draw, world, api } = scene
  const all = [...api.mutation]
  // Those with related rows are few, and have the most to draw.
  const nesting = all.filter(([, one]) => one.kind === 'updateRow' && relatedArgument(world, api, one).length > 0)
  const fields = nesting.length > 0 && draw.chance(30) ? nesting : all
  const count = draw.pick([1, 1, 2, 3])
  return Array.from({ length: count }, (_, index) => {
    const [name, field] = draw.pick(fields)
    return `${aliased(scene, index === 0, name)}${drawWrite(scene, field)}`
  })
}
