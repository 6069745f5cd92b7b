/** One step that changes a list; places are those of the list as the steps before have made it. */
export type ListStep =
  | { readonly kind: 'remove'; readonly at: number }
  | { readonly kind: 'move'; readonly from: number; readonly to: number }
  /** @property item its place in the list that is made */
  | { readonly kind: 'add'; readonly at: number; readonly item: number }

/** Makes one list of another, in which no item occurs twice. The most items that can stay where they are do. */
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
  // Each item that does not stay goes behind the one that is before it in the end.
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

/** A longest rising subsequence of distinct numbers (Fredman 1975). */
function longestRising(numbers: readonly number[]): readonly number[] {
  /** By length less one, the place of the smallest number that ends a subsequence of that length. */
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
