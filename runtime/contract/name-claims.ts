import type { Tables } from '../lib/reads.ts'
import type { Lookup } from '../lib/table.ts'
import type { EntityFacts } from './manifest.ts'
import { anyPart, basesOf, infixesOf, nameAdditions, partList, parts, partsWith, type NamePart } from './name-parts.ts'

/** Which of the relations that want a name has it (spec/graphql.md 2.4): the first one by precedence. */

/** What of a relation decides who gets which name. */
export interface Naming {
  readonly name: string
  readonly keyed: boolean
  readonly additions: readonly string[]
  /** The name, and those of which it would be a part. Of two names that cannot both be had, one is among the other's. */
  readonly roots: readonly string[]
}

/** As text, which is equal where it says the same. */
export function namingText(entity: EntityFacts): string {
  const naming: Omit<Naming, 'roots'> = {
    name: entity.name,
    keyed: entity.key.length > 0,
    additions: nameAdditions.filter((addition) => entity[addition] === true),
  }
  return JSON.stringify(naming)
}

export function readNaming(text: string): Naming {
  const naming = JSON.parse(text) as Omit<Naming, 'roots'>
  return { ...naming, roots: rootsOfName(naming.name) }
}

export const placesWithoutName = (namings: readonly Naming[], { places }: Claims): readonly number[] =>
  namings.flatMap(({ name }, place) => (places.get(name) === place ? [] : [place]))

/** Whether a name can be a relation's at all, and whether some other relation's name decides about it. */
export type Standing = 'alone' | 'contested' | 'impossible'

const validName = /^[_A-Za-z][_0-9A-Za-z]*$/

/** Whether GraphQL can spell it, and introspection leaves it (October 2021, 2.1.9). */
export const isSpellable = (name: string): boolean => validName.test(name) && !name.startsWith('__')

/** What makes of a name one that cannot stand beside it, whatever additions there are. */
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

/** @param reserved names that no relation has */
export function standingOf(naming: Naming, { rooted }: NameTables, reserved: ReadonlySet<string>): Standing {
  if (!isSpellable(naming.name) || reserved.has(naming.name)) return 'impossible'
  const isContested = rootsOf(naming).some((root) => {
    const group = rooted.get(root) ?? []
    return group.length > 1 && group.some(({ name }) => name === root)
  })
  return isContested ? 'contested' : 'alone'
}

/** The additions that some relation has. */
export function additionsIn(namings: readonly Naming[]): ReadonlySet<string> {
  const found = new Set<string>()
  for (const { additions } of namings) for (const addition of additions) found.add(addition)
  return found
}

/** Which relations have the types that their base names promise. */
export interface Claims {
  /** By base name: the place in the manifest's list. */
  readonly places: ReadonlyMap<string, number>
  /** By place: whether the relation is one of them and has a key. */
  readonly keyed: readonly boolean[]
  readonly used: readonly NamePart[]
  /** Whether enums have filters for arrays of them. */
  readonly listFilters: boolean
}

/** The relation and the part of it that a name would be, e.g. `PostEdge` -> Post, edge. */
export function findPart(
  { places, used }: Pick<Claims, 'places' | 'used'>,
  name: string,
): { readonly place: number; readonly part: NamePart } | undefined {
  const own = places.get(name)
  if (own !== undefined) return { place: own, part: 'row' }
  if (!anyPart.test(name)) return undefined
  for (const part of used) {
    if (!name.endsWith(parts[part])) continue
    const place = places.get(name.slice(0, name.length - parts[part].length))
    if (place !== undefined) return { place, part }
  }
  return undefined
}

/**
 * Who has the names. Most names are like no other one, so only the contested ones are gone through in their order.
 *
 * @param readable of each relation, whether it counts
 */
export function claimNames(
  namings: readonly Naming[],
  standings: readonly Standing[],
  present: ReadonlySet<string>,
  readable: readonly boolean[],
): Claims {
  const places = new Map<string, number>()
  const used = partsWith(present)
  const infixes = infixesOf(used)
  /** Names one of whose parts would be the name of a claimed relation. */
  const blocked = new Set<string>()
  /** Whether a part of one would be a part of the other: the filter of PostRelation is the relation filter of Post. */
  const sharesPart = (base: string): boolean =>
    infixes.some(
      (infix) =>
        places.has(base + infix) || (base.endsWith(infix) && places.has(base.slice(0, base.length - infix.length))),
    )
  const isFree = (base: string): boolean =>
    !blocked.has(base) && findPart({ places, used }, base) === undefined && !sharesPart(base)
  const keyed = namings.map(() => false)
  const claim = (place: number, { name, keyed: isKeyed }: Naming): void => {
    places.set(name, place)
    keyed[place] = isKeyed
  }
  const contested: [place: number, naming: Naming][] = []
  for (const [place, naming] of namings.entries()) {
    if (readable[place] !== true) continue
    if (standings[place] === 'alone') claim(place, naming)
    else if (standings[place] === 'contested') contested.push([place, naming])
  }
  for (const withKey of [true, false])
    for (const [place, naming] of contested) {
      if (naming.keyed !== withKey || !isFree(naming.name)) continue
      claim(place, naming)
      for (const base of basesOf(naming.name, used)) blocked.add(base)
    }
  return { places, keyed, used, listFilters: present.has('enumArrays') }
}
