/** An expected refusal: any one of these messages, codes or SQLSTATEs may come first. */
export class Refused extends Error {
  readonly reasons: readonly string[]

  constructor(...reasons: readonly string[]) {
    super(reasons.join(' | '))
    this.name = 'Refused'
    this.reasons = reasons
  }
}
