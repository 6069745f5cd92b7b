import type { Piece } from './statements.ts'

/** The field of a mutation that a statement is for, and what of its arguments it is about. */
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
  /** It is several steps, and nothing tells which. */
  readonly several: boolean
}
