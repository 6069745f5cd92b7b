import type { Piece } from './statements.ts'

/** The field of a mutation that a statement belongs to, and the path in its arguments. */
export function fieldOf(pieces: readonly Piece[], statement: number): FieldPlace | null {
  const found = pieces.find((piece) => piece.kind === 'column' && statement <= piece.statement)
  if (found?.kind !== 'column') return null
  const { key, about = [undefined], several = false } = found
  const place = statement - found.statement + about.length - 1
  return place < 0 ? null : { key, argument: about[place], several: several && place === 0 }
}

interface FieldPlace {
  readonly key: string
  readonly argument: readonly string[] | undefined
  /** It consists of several steps, and the failed one is unknown. */
  readonly several: boolean
}
