/** Ends a switch over a closed union: a forgotten member is a type error here. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${String(value)}`)
}
