/** One step that changes a list; indexes refer to the list after the earlier steps. */
export type ListStep =
  | { readonly kind: 'remove'; readonly at: number }
  | { readonly kind: 'move'; readonly from: number; readonly to: number }
  /** @property item its index in the final list */
  | { readonly kind: 'add'; readonly at: number; readonly item: number }

/** The steps from one list without repeated items to another. As many items as possible stay in place. */
export function diffLists(before: readonly string[], after: readonly string[]): readonly ListStep[] {
  const steps: ListStep[] = []
  const wanted = new Map(after.map((id, place) => [id, place]))
  const list = [...before]
  for (let at = list.length - 1; at >= 0; at -= 1) {
    if (wanted.has(list[at] ?? '')) continue
    list.splice(at, 1)
    steps.push({ kind: 'remove', at })
  }
  const known = new Set(list)
  const staying = new Set(longestRising(list.map((id) => wanted.get(id) ?? 0)).map((place) => after[place] ?? ''))
  // Each moved item goes behind its final predecessor.
  for (const [item, id] of after.entries()) {
    if (staying.has(id)) continue
    const from = known.has(id) ? list.indexOf(id) : -1
    if (from !== -1) list.splice(from, 1)
    const to = item === 0 ? 0 : list.indexOf(after[item - 1] ?? '') + 1
    list.splice(to, 0, id)
    if (from === -1) steps.push({ kind: 'add', at: to, item })
    else if (from !== to) steps.push({ kind: 'move', from, to })
  }
  return steps
}

/** A longest increasing subsequence of distinct numbers (Fredman 1975). */
function longestRising(numbers: readonly number[]): readonly number[] {
  /** By length less one, the index of the smallest number that ends a subsequence of that length. */
  const ends: number[] = []
  const previous: number[] = []
  for (const [place, number] of numbers.entries()) {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1
      else high = middle
    }
    previous.push(ends[low - 1] ?? -1)
    ends[low] = place
  }
  const found: number[] = []
  for (let place = ends.at(-1) ?? -1; place !== -1; place = previous[place] ?? -1) found.push(numbers[place] ?? 0)
  return found.reverse()
}
