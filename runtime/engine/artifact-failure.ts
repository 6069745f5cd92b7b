/** Artifacts that cannot be used. */

export type ArtifactFailureKind =
  /** The artifacts or a part of them do not exist. */
  | 'missing'
  /** They exist but are not what the compiler wrote. */
  | 'damaged'
  /** Another version of the compiler wrote them. */
  | 'format'

export class ArtifactFailure extends Error {
  readonly kind: ArtifactFailureKind

  constructor(kind: ArtifactFailureKind, message: string) {
    super(message)
    this.name = 'ArtifactFailure'
    this.kind = kind
  }
}

export const damaged = (what: string): ArtifactFailure => new ArtifactFailure('damaged', `${what} Compile again.`)

/** The artifacts' content, or null if they cannot be used. */
export function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof ArtifactFailure) return null
    throw error
  }
}
