import { runWithReport } from '../../../runtime/graphql/report/report.ts'
import type { Extension } from '../../../runtime/graphql/run/extended.ts'

export const extension: Extension = {
  name: 'schemaReport',
  fact: 'report',
  run: async (run, exchange, { engine: { manifest, view } }) => {
    if (manifest.report === undefined) return { rows: await run(exchange), answer: undefined }
    const { rows, report } = await runWithReport(run, exchange, {
      manifest,
      facts: manifest.report,
      view: view(exchange.caller.role),
      anon: view('anon').visible,
    })
    return { rows, answer: report }
  },
}
