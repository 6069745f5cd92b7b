import { legibleSql } from '../../../compiler/catalog/diagnostics/legible-sql.ts'
import type { BoundStatement } from '../../../runtime/contract/execution.ts'
import { filled } from './compact.ts'

/** Statements for people, with their parameters as comments in front. */
export const statementsText = (statements: readonly BoundStatement[]): string =>
  statements.map((statement) => `${parametersText(statement)}${legibleSql(statement.text)};\n`).join('\n')

function parametersText({ values }: BoundStatement): string {
  if (values.length === 0) return ''
  const lines = filled(
    values.map((value, index) => `$${index + 1} = ${JSON.stringify(value)}`),
    '',
  )
  return `${lines.replaceAll(/^/gm, '-- ')}\n`
}
