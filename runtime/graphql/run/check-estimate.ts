import type { BoundStatement } from '../../contract/execution.ts'
import type { Manifest } from '../../contract/manifest.ts'
import type { Running } from './cell.ts'
import { checkCost, type Estimates } from './cost-limit.ts'
import { refusedByNow } from './on-schema-of-now.ts'
import type { Turn } from './turn.ts'

/** What a limit of costs needs of what a request runs on. */
interface Estimating extends Running {
  readonly engine: Running['engine'] & { readonly manifest: Pick<Manifest, 'limits'> }
  readonly estimates: Estimates
}

/** Holds what the statements are estimated to cost against the limit, where there is one. Rejects with Refusal. */
export async function checkEstimate(turn: Turn<Estimating>, bound: readonly BoundStatement[]): Promise<void> {
  const { loaded, run, asker } = turn
  const limit = loaded.engine.manifest.limits?.cost
  if (limit === undefined) return
  const cost = await loaded.estimates.cost(run, asker, bound, limit)
  await refusedByNow(turn, () => checkCost(cost, limit))
}
