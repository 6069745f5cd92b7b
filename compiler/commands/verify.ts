import { withSession } from '../../runtime/db/connect/session.ts'
import { reasonOf } from '../../runtime/db/failures/failures.ts'
import { withDatabase } from '../../runtime/db/pool/pool.ts'
import { buildView } from '../additions/engine.ts'
import { createService } from '../additions/service.ts'
import { createCompiler } from '../compile.ts'
import { demandSchemas } from '../following/serving/followed-source.ts'
import {
  CommandFailure,
  exitCodes,
  misuse,
  type Command,
  namesOption,
  numberOption,
  repeatedOption,
  textOption,
} from './command.ts'
import { demandReadable } from './demand-readable.ts'
import { neededSettingsOf, loginDatabase } from './needed-settings.ts'

/** The product's functions for the package: it uses the installed product, and contains no copy of it. */
export const product = {
  createCompiler,
  createService,
  buildView,
  withSession,
  withDatabase,
  demandSchemas,
  loginDatabase,
  neededSettingsOf,
  demandReadable,
  namesOption,
  numberOption,
  repeatedOption,
  textOption,
  reasonOf,
  CommandFailure,
  exitCodes,
  misuse,
} as const

export type Product = typeof product

/** The package that users install for the command. The product does not import it, and no server needs it. */
const reference: string = '@catalograph/reference'

/** The command of the package; if it is not installed, one that explains how to install it. */
export async function loadVerifyCommand(from = reference): Promise<Command> {
  try {
    return ((await import(from)) as { readonly commandOf: (product: Product) => Command }).commandOf(product)
  } catch (error) {
    return without(lackOf(from, reasonOf(error)))
  }
}

/** Node reports a missing file of a package differently (manual, ERR_MODULE_NOT_FOUND). */
const lackOf = (from: string, reason: string): string =>
  reason.startsWith(`Cannot find package '${from}'`)
    ? `verify is in a package of its own: npm install --save-dev ${from}`
    : `verify cannot be loaded from ${from}: ${reason}`

const without = (lacking: string): Command => ({
  name: 'verify',
  summary: `Compare answers with the reference interpreter (package ${reference}).`,
  description: lacking,
  options: {},
  lacking,
  run: () => Promise.reject(misuse(lacking)),
})
