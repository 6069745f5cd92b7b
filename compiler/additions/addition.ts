import type { Key } from '../comments/keys.ts'
import type { ModelAddition } from '../model/additions.ts'
import type { ServiceAddition } from '../../runtime/graphql/serve.ts'

/** An addition: what each stage of the core needs of it. A stage asks for what it needs by an interface of its own. */
export interface Addition extends ModelAddition, ServiceAddition {
  /** Its key in comments. */
  readonly name: string
  /** Rows of the table of keys. */
  readonly keys: readonly Key[]
}
