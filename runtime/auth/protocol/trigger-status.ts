import type { DatabaseFailure } from '../../db/failures/failures.ts'

/** The status that the owner's triggers choose by SQLSTATE PTnnn (spec/auth.md 2.4); null: another kind of failure. */
export function statusOfTrigger({ sqlstate }: DatabaseFailure): number | null {
  const status = /^PT([45]\d\d)$/.exec(sqlstate ?? '')?.[1]
  return status === undefined ? null : Number(status)
}
