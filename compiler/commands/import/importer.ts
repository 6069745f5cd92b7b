import type { Settings } from '../../../runtime/settings/keys.ts'
import type { GivenOptions, Terminal } from '../command.ts'
import type { Imported } from './imported.ts'
import type { Asking } from './trial.ts'

/** The result of an importer, and the callers to compare. */
export interface Import {
  readonly imported: Imported
  /** The served schemas, with those that the source needs. */
  readonly schemas: readonly string[]
  readonly asking: readonly Asking[]
}

export interface ImportPlace {
  readonly settings: Settings
  /** Of the database to move to, as its owner. */
  readonly url: string
  /** The arguments after the importer's name. */
  readonly args: readonly string[]
}

/** Rejects with CommandFailure for faults of the source. */
export type Importer = (given: GivenOptions, place: ImportPlace, terminal: Terminal) => Promise<Import>
