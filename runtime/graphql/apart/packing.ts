import { setImmediate } from 'node:timers/promises'
import type { BoundStatement, CheckableText } from '../../contract/execution.ts'
import type { Ready } from '../run/request-state.ts'
import type { Piece } from '../statements/statements.ts'

/**
 * The ready form of a request, in transit between threads. The receiver deserializes a message in one step: many
 * objects are sent as texts, so that they can be parsed in slices.
 */
export type Packed = Ready | (Pick<Ready, 'writes' | 'interests'> & { readonly slices: readonly string[] })

type Item =
  | { readonly text: CheckableText }
  /** `of`: index of the earlier text. */
  | ({ readonly of: number } & Pick<BoundStatement, 'values' | 'tenants' | 'unchanged'>)
  | { readonly piece: Piece }

/** Objects per slice: some milliseconds of work. */
const most = 1_000

/** @param ready with statements as `bind` makes them */
export function pack(ready: Ready): Packed {
  const { pieces, bound, ...others } = ready
  if (pieces.length + bound.length <= most) return ready
  const places = new Map<string, number>()
  const texts: Item[] = []
  const statements = bound.map((statement): Item => {
    const { name, values, tenants, unchanged } = statement
    const known = places.get(name)
    if (known !== undefined) return { of: known, values, tenants, unchanged }
    places.set(name, texts.length)
    return { of: texts.push({ text: checkableText(statement) }) - 1, values, tenants, unchanged }
  })
  const items = [...texts, ...statements, ...pieces.map((piece): Item => ({ piece }))]
  const slices: string[] = []
  for (let from = 0; from < items.length; from += most) slices.push(JSON.stringify(items.slice(from, from + most)))
  return { ...others, slices }
}

const checkableText = (statement: BoundStatement): CheckableText =>
  statement.carriesCheck === true
    ? { name: statement.name, text: statement.text, carriesCheck: true }
    : { name: statement.name, text: statement.text }

/** The event loop runs other work between the slices. */
export async function unpack(packed: Packed): Promise<Ready> {
  if (!('slices' in packed)) return packed
  const { slices, ...others } = packed
  const texts: CheckableText[] = []
  const bound: BoundStatement[] = []
  const pieces: Piece[] = []
  for (const [index, slice] of slices.entries()) {
    if (index > 0) await setImmediate()
    for (const item of JSON.parse(slice) as readonly Item[]) {
      if ('text' in item) texts.push(item.text)
      else if ('piece' in item) pieces.push(item.piece)
      else {
        const prepared = texts[item.of]
        if (prepared === undefined) throw new Error('a statement came before its text')
        const { values, tenants, unchanged } = item
        bound.push({ ...prepared, values, tenants, unchanged })
      }
    }
  }
  return { ...others, pieces, bound }
}
