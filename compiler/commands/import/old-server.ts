import { messageOf } from '../../../runtime/lib/text.ts'
import { CommandFailure, misuse } from '../command.ts'
import { comparedRows, type ComparedDocument, type Rows } from './comparison.ts'

/** The answer as the caller's file has it. @throws CommandFailure if it has none */
export function expectedRows({ name, expected }: ComparedDocument): Rows {
  if (expected === undefined)
    throw misuse(`--compare: "${name}" has no "expected" rows, and no old server is named to ask`)
  return comparedRows(expected)
}

/** Asks a server of GraphQL. Rejects with CommandFailure if it does not answer in GraphQL. */
export async function askServer(
  endpoint: string,
  headers: Readonly<Record<string, string>>,
  { name, before, variables }: ComparedDocument,
): Promise<Rows> {
  if (before === null) throw misuse(`--compare: "${name}" has no "before", the document for the old server`)
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query: before, variables }),
      signal: AbortSignal.timeout(30_000),
    })
    return comparedRows(JSON.parse(await response.text()))
  } catch (error) {
    throw new CommandFailure(`--endpoint: ${endpoint} does not answer "${name}" in GraphQL: ${messageOf(error)}`)
  }
}
