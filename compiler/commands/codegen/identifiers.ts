/** Words that cannot be identifiers: reserved words of ECMA-262 12.7.2, and the names of built-in types. */
const reserved: ReadonlySet<string> = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends ' +
    'false finally for function if implements import in instanceof interface let new null package private protected ' +
    'public return static super switch this throw true try typeof var void while with yield ' +
    'any bigint boolean never number object string symbol undefined unknown'
  ).split(' '),
)

/** Gives unique names, with a suffix if necessary. `same` maps names that cannot be in one scope to one text. */
export function createNamer(
  taken: Iterable<string>,
  same = (name: string): string => name,
): (wanted: string) => string {
  const used = new Set([...taken].map(same))
  return (wanted) => {
    let name = wanted
    while (reserved.has(name) || used.has(same(name))) name += '_'
    used.add(same(name))
    return name
  }
}
