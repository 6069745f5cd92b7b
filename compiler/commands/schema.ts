import { printSchema } from 'graphql'
import { loadSchema, placeDescription, schemaSourceOf, placeOptions } from './codegen/place.ts'
import { exitCodes, type Command } from './command.ts'
import { writeOut } from './given-documents.ts'

export const schemaCommand: Command = {
  name: 'schema',
  summary: 'Print the GraphQL schema of a role (SDL).',
  description: placeDescription,
  options: { ...placeOptions, out: { value: 'FILE', help: 'Write it to this file instead.' } },
  run: async (given, terminal) => {
    const role = String(given['role'] ?? 'anon')
    terminal.stage(`Reading the schema of ${role}`)
    const text = printSchema(await loadSchema(await schemaSourceOf(given, role, terminal), role))
    const { out } = given
    if (typeof out !== 'string') terminal.print(text)
    else await writeOut(out, `${text}\n`)
    return exitCodes.done
  },
}
