/** Calls each, the last one first, also where one of them fails; rejects with what the first of those failed with. */
export async function endAll(endings: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const end of endings.toReversed()) await end().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
