import type { Tables, Lookup } from '../lib/memo/tables.ts'
import type { EntityFacts } from './manifest.ts'
import { anyPart, basesOf, infixesOf, nameAdditions, partList, parts, partsWith, type NamePart } from './name-parts.ts'

/** Which of the relations with equal names gets it (spec/graphql.md 2.4): the first by precedence. */

/** The facts of a relation that decide names. */
export interface Naming {
  readonly name: string
  readonly keyed: boolean
  readonly additions: readonly string[]
  /** The name, and those of which it would be a part. If two names conflict, one is among the other's. */
  readonly roots: readonly string[]
}

/** As text, equal for equal facts. */
export function namingText(entity: EntityFacts): string {
  const naming: Omit<Naming, 'roots'> = {
    name: entity.name,
    keyed: isKeyed(entity),
    additions: nameAdditions.filter((addition) => entity[addition] === true),
  }
  return JSON.stringify(naming)
}

export function readNaming(text: string): Naming {
  const naming = JSON.parse(text) as Omit<Naming, 'roots'>
  return { ...naming, roots: rootsOfName(naming.name) }
}

/** Whether a relation can have the name, and whether another relation's name decides that. */
export type Standing = 'alone' | 'contested' | 'impossible'

const validName = /^[_A-Za-z][_0-9A-Za-z]*$/

/** Whether it is a valid GraphQL name that introspection does not reserve (October 2021, 2.1.9). */
export const isSpellable = (name: string): boolean => validName.test(name) && !name.startsWith('__')

/** Suffixes that make a name conflict with its base, for any additions. */
const endings = [...new Set([...Object.values(parts), ...infixesOf(partList)])].filter((ending) => ending !== '')
const anyEnding = new RegExp(`(?:${endings.join('|')})$`)

const rootsOfName = (name: string): readonly string[] =>
  anyEnding.test(name)
    ? [name, ...endings.flatMap((ending) => (name.endsWith(ending) ? [name.slice(0, -ending.length)] : []))]
    : [name]

export const rootsOf = ({ roots }: Naming): readonly string[] => roots

export interface NameTables extends Tables {
  /** By root: the names that have it. */
  readonly rooted: Lookup<readonly Naming[]>
}

/** @param reserved names that no relation can have */
export function standingOf(naming: Naming, { rooted }: NameTables, reserved: ReadonlySet<string>): Standing {
  if (!isSpellable(naming.name) || reserved.has(naming.name)) return 'impossible'
  const isContested = rootsOf(naming).some((root) => {
    const group = rooted.get(root) ?? []
    return group.length > 1 && group.some(({ name }) => name === root)
  })
  return isContested ? 'contested' : 'alone'
}

const none: readonly string[] = []

/** The same list for all without additions, which are most. */
export const additionsOf = ({ additions }: Naming): readonly string[] => (additions.length === 0 ? none : additions)

/** The additions of the relations. */
export const additionsIn = (lists: readonly (readonly string[])[]): ReadonlySet<string> =>
  new Set([...new Set(lists)].flat())

/** Which relations own the types of their base names. */
export interface Claims extends Owners {
  readonly used: readonly NamePart[]
}

/** Relations by their base names. */
type Owners = Lookup<EntityFacts>

/** The relation and the part that a name denotes, e.g. `PostEdge` -> Post, edge. */
export function findPart(
  claims: Claims,
  name: string,
): { readonly entity: EntityFacts; readonly part: NamePart } | undefined {
  const own = claims.get(name)
  if (own !== undefined) return { entity: own, part: 'row' }
  if (!anyPart.test(name)) return undefined
  for (const part of claims.used) {
    if (!name.endsWith(parts[part])) continue
    const entity = claims.get(name.slice(0, name.length - parts[part].length))
    if (entity !== undefined) return { entity, part }
  }
  return undefined
}

/**
 * The readable relations of a standing.
 * @param readable by relation
 */
export const standingSo = (
  wanted: Standing,
  entities: readonly EntityFacts[],
  standings: readonly Standing[],
  readable: readonly boolean[],
): readonly EntityFacts[] => entities.filter((_, place) => standings[place] === wanted && readable[place] === true)

/** The relations without those that follow in the same order. */
export function withoutThese(entities: readonly EntityFacts[], those: readonly EntityFacts[]): readonly EntityFacts[] {
  let next = 0
  return entities.filter((entity) => {
    const isNext = entity === those[next]
    if (isNext) next += 1
    return !isNext
  })
}

/**
 * Assigns the contested names, each to the first claimant; relations with a key come first.
 *
 * @param alone the relations whose names are not contested
 */
export function claimContested(
  contested: readonly EntityFacts[],
  alone: Owners,
  present: ReadonlySet<string>,
): ReadonlyMap<string, EntityFacts> {
  const found = new Map<string, EntityFacts>()
  const claims: Claims = { used: partsWith(present), get: (name) => found.get(name) ?? alone.get(name) }
  const infixes = infixesOf(claims.used)
  /** Names one of whose parts would be the name of a claimed relation. */
  const blocked = new Set<string>()
  const isClaimed = (name: string): boolean => claims.get(name) !== undefined
  /** Whether a part of one would be a part of the other: the filter of PostRelation is the relation filter of Post. */
  const sharesPart = (base: string): boolean =>
    infixes.some(
      (infix) =>
        isClaimed(base + infix) || (base.endsWith(infix) && isClaimed(base.slice(0, base.length - infix.length))),
    )
  const isFree = (base: string): boolean =>
    !blocked.has(base) && findPart(claims, base) === undefined && !sharesPart(base)
  for (const withKey of [true, false])
    for (const entity of contested) {
      if (isKeyed(entity) !== withKey || !isFree(entity.name)) continue
      found.set(entity.name, entity)
      for (const base of basesOf(entity.name, claims.used)) blocked.add(base)
    }
  return found
}

export const isKeyed = ({ key }: EntityFacts): boolean => key.length > 0
