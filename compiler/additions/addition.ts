import type { EntityFacts } from '../../runtime/contract/manifest.ts'
import { tableSwitch } from '../comments/additions.ts'
import type { Key } from '../comments/keys.ts'
import type { LiveSettings } from '../emit/live/database.ts'
import type { ModelAddition } from '../model/additions.ts'
import type { ServiceAddition } from '../../runtime/graphql/serve.ts'

/** An addition: what each stage of the core needs of it. A stage asks for what it needs by an interface of its own. */
export interface Addition extends ModelAddition, ServiceAddition {
  /** Rows of the table of keys, all with its name. */
  readonly keys: readonly Key[]
  /** How it makes objects live. */
  readonly liveSettings?: LiveSettings
  /** A change of a relation that no type shows, but that changes the answers of documents. */
  readonly changes?: (old: EntityFacts, now: EntityFacts) => SettingChange | null
}

export interface SettingChange {
  readonly kind: string
  readonly description: string
}

/** An addition with one key. */
export const keyAddition = <const Name extends string, const Row extends Omit<Key, 'key'>>(
  name: Name,
  row: Row,
  others: Partial<Omit<Addition, 'name' | 'keys'>> = {},
) => ({ name, keys: [{ key: name, ...row }], ...others })

/** An addition that a table or its schema switches on, as a fact of the same name. */
export const tableAddition = <const Name extends string>(
  name: Name,
  effect: string,
  others: Partial<Omit<Addition, 'name' | 'keys' | 'switches'>> = {},
) => ({ name, keys: [tableSwitch(name, effect)], switches: [name], ...others })
