import type { OpenStatement } from '../../contract/execution.ts'
import { printOpen } from '../../sql/print.ts'
import { selectList, sql } from '../../sql/tree.ts'

/** Carries the check of the version where no statement of the request can. */
export const bareCheck: OpenStatement = {
  name: 'catalograph.check',
  text: printOpen(selectList([{ value: sql`null` }])).text,
  values: [],
  carriesCheck: true,
}
