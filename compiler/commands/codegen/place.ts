import type { GraphQLSchema } from 'graphql'
import { CommandFailure, misuse, type CommandOption, type GivenOptions, type Terminal } from '../command.ts'
import { readLocalSecret } from '../start.ts'
import { neededSettingsOf, ownerUrl } from '../needed-settings.ts'
import { keyOfSecret, serviceSource, databaseSource, folderSource, type SchemaSource } from './source.ts'

export const placeOptions: Readonly<Record<'from' | 'role' | 'key', CommandOption>> = {
  from: {
    value: 'PLACE',
    help: 'Folder of artifacts, http(s) URL of a service, or postgres URL (default: the database).',
  },
  role: { value: 'ROLE', help: 'The role whose schema it is (default: anon).' },
  key: { value: 'KEY', help: 'Project key of the service: that of service_role shows each role.' },
}

export const placeDescription =
  'Reads the schema from a folder that `compile` wrote, from a service, or from a database, to which it writes nothing.\n' +
  'A service shows each role to the key of service_role (--key, or JWT_SECRET in its place), and to another key the role of\n' +
  'that key, where a comment enables introspection. Without --from it is the database of DATABASE_OWNER_URL or\n' +
  'DATABASE_URL, or the embedded one while it runs.'

/** @throws CommandFailure if the options name no source */
export async function schemaSourceOf(
  { from, key }: GivenOptions,
  role: string,
  terminal: Terminal,
): Promise<SchemaSource> {
  if (typeof from === 'string' && !/^[a-z]+:\/\//.test(from)) return folderSource(from, role)
  const settings = neededSettingsOf(terminal)
  const place = typeof from === 'string' ? from : await ownerUrl(settings)
  if (/^postgres(?:ql)?:/.test(place)) {
    return databaseSource({ url: place, schemas: settings.schemas }, role)
  }
  if (!/^https?:/.test(place)) throw misuse('--from takes a folder, an http(s) URL or a postgres URL')
  if (typeof key === 'string') return serviceSource(place, key, role)
  const secret = settings.jwtSecret ?? (await readLocalSecret(settings.dataFolder))
  if (secret === null) throw new CommandFailure('a service is asked with --key, or with JWT_SECRET set')
  return serviceSource(place, keyOfSecret(secret), role)
}

/** Every schema has `node`. */
const isEmptySchema = (schema: GraphQLSchema): boolean =>
  Object.keys(schema.getQueryType()?.getFields() ?? {}).length <= 1 && schema.getMutationType() == null

/** Rejects with CommandFailure if it is empty for the role. */
export async function loadSchema(source: SchemaSource, role: string): Promise<GraphQLSchema> {
  const schema = await source.load()
  if (!isEmptySchema(schema)) return schema
  throw new CommandFailure(
    `${role} may neither read nor call anything: check its grants (catalograph report --role ${role})`,
  )
}
