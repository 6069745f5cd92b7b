import { printSchema } from 'graphql'
import { loadSchema, placeDescription, schemaSourceOf, placeOptions } from './codegen/place.ts'
import { watch } from './codegen/watch.ts'
import { exitCodes, misuse, type Command } from './command.ts'
import { writeOut } from './given-documents.ts'

export const schemaCommand: Command = {
  name: 'schema',
  summary: 'Print the GraphQL schema of a role (SDL).',
  description: placeDescription,
  options: {
    ...placeOptions,
    out: { value: 'FILE', help: 'Write it to this file instead.' },
    watch: { value: null, help: 'With --out: keep running, and write the file again when the schema changes.' },
  },
  run: async (given, terminal) => {
    const { out, role: asked = 'anon' } = given
    const role = String(asked)
    if (given['watch'] === true && typeof out !== 'string') throw misuse('--watch goes with --out')
    const stopRequested = given['watch'] === true ? terminal.stopRequested() : null
    const source = await schemaSourceOf(given, role, terminal)
    const write = async (): Promise<void> => {
      terminal.stage(`Reading the schema of ${role}`)
      const text = printSchema(await loadSchema(source, role))
      if (typeof out === 'string') await writeOut(out, `${text}\n`)
      else terminal.print(text)
    }
    if (stopRequested === null) await write()
    else
      await watch({
        version: source.version,
        onChange: write,
        onFailure: (reason) => terminal.note(`catalograph: ${reason}`),
        stopRequested,
      })
    return exitCodes.done
  },
}
