import { unlimitedSchema } from '../../../runtime/graphql/report/report-limits.ts'
import { runWithAdvice, schemaReport } from '../../../runtime/graphql/report/report.ts'
import type { Extension } from '../../../runtime/graphql/run/extended.ts'

export const extension: Extension = {
  name: 'schemaReport',
  fact: 'report',
  run: async (run, exchange, { engine }) => {
    const { report, allowlists = [] } = engine.manifest
    if (report === undefined) return { rows: await run(exchange), answer: undefined }
    const view = engine.view(exchange.caller.role)
    const unlimited = unlimitedSchema(engine.manifest, engine.view('anon').visible, report.schemas)
    const { rows, advice } = await runWithAdvice(run, view, report, { allowlists, unlimited }, exchange)
    return { rows, answer: schemaReport(view, report, advice) }
  },
}
