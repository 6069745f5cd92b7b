import { parse } from 'yaml'
import { isJsonObject, type JsonObject } from '../../../../runtime/lib/json.ts'
import { messageOf } from '../../../../runtime/lib/text.ts'
import { misuse } from '../../command.ts'
import { memberObject, memberText } from '../imported.ts'

/** The values of each tag by its name; a tag without a value has ''. */
export type SmartTags = ReadonlyMap<string, readonly string[]>

const tagLine = /^@([A-Za-z][\w]*)(?:\s+(.*))?$/

/** Tags are the lines at the beginning of a comment; the rest describes the object. */
export function tagsOfComment(comment: string | null): { readonly tags: SmartTags; readonly rest: string } {
  const lines = (comment ?? '').trim().split(/\r?\n/)
  const end = lines.findIndex((line) => !tagLine.test(line.trim()) || line.startsWith('@graphql('))
  const count = end < 0 ? lines.length : end
  const tags = new Map<string, readonly string[]>()
  for (const line of lines.slice(0, count)) {
    const [, name = '', value = ''] = tagLine.exec(line.trim()) ?? []
    tags.set(name, [...(tags.get(name) ?? []), value.trim()])
  }
  const rest = lines.slice(count).join('\n').trim()
  return { tags, rest: rest.replace(/@graphql\([^]*\)/, '').trim() }
}

/** JSON5 but for its comments and tabs is YAML; texts in single quotes have the escapes of JSON. */
function parseJson5(text: string, path: string): unknown {
  const part = /"(?:\\[^]|[^"\\])*"|'((?:\\[^]|[^'\\])*)'|\/\/[^\n]*|\/\*[^]*?\*\/|\t/g
  const plain = text.replaceAll(part, (found: string, single: string | undefined) => {
    if (single !== undefined) return `"${single.replaceAll("\\'", "'").replaceAll(/(?<!\\)"/g, '\\"')}"`
    return found.startsWith('"') ? found : ' '
  })
  try {
    return parse(plain, { logLevel: 'error' }) as unknown
  } catch (error) {
    throw misuse(`import postgraphile: ${path} cannot be parsed: ${messageOf(error).split('\n')[0]}`)
  }
}

/** An object in a file of tags. */
export interface TaggedEntry {
  readonly kind: string
  /** `table`, `schema.table`, `schema.table.column`: as the file names it. */
  readonly path: string
  readonly tags: SmartTags
  readonly description: string | null
}

const toTags = (tags: JsonObject): SmartTags =>
  new Map(
    Object.entries(tags)
      .filter(([, value]) => value !== false && value !== null)
      .map(([name, value]) => [
        name,
        (Array.isArray(value) ? value : [value]).map((one) => (one === true ? '' : String(one))),
      ]),
  )

const entriesOf = (kind: string, path: string, value: unknown): readonly TaggedEntry[] => [
  { kind, path, tags: toTags(memberObject(value, 'tags')), description: memberText(value, 'description') },
  ...['attribute', 'constraint'].flatMap((inner) =>
    Object.entries(memberObject(value, inner)).flatMap(([name, one]) => entriesOf(inner, `${path}.${name}`, one)),
  ),
]

/** @throws CommandFailure if it holds no tags */
export function tagsOfFile(text: string, path: string): readonly TaggedEntry[] {
  const config = memberObject(parseJson5(text, path), 'config')
  if (Object.keys(config).length === 0)
    throw misuse(`import postgraphile: ${path} has no "config" of tags, as postgraphile.tags.json5 has`)
  return Object.entries(config).flatMap(([kind, objects]) =>
    isJsonObject(objects) ? Object.entries(objects).flatMap(([name, one]) => entriesOf(kind, name, one)) : [],
  )
}
