/** Ends a switch over a closed union: a member that was forgotten fails to compile here. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${String(value)}`)
}
