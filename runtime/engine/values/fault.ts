/** A value that does not fit its type; the sentence is for its sender. */
export class ValueFault extends Error {
  override readonly name = 'ValueFault'
}
