/** A value that its type cannot take; the sentence is for anyone who sent it. */
export class ValueFault extends Error {
  override readonly name = 'ValueFault'
}
