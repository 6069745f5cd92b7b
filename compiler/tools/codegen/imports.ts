import type { ClientFile } from './layout.ts'

/** Collects what a file has to import from others of its client. */
export interface Imports {
  /** Notes a name that another file exports, and returns it. */
  readonly add: (from: ClientFile | undefined, name: string) => string
  /** One statement for each module, in the order of their paths. */
  readonly lines: (keyword: 'import' | 'import type') => readonly string[]
}

export function createImports(path: string): Imports {
  const names = new Map<string, Set<string>>()
  const prefix = path.includes('/') ? '../' : './'
  return {
    add: (from, name) => {
      if (from !== undefined && from.path !== path) {
        names.set(from.path, (names.get(from.path) ?? new Set()).add(name))
      }
      return name
    },
    lines: (keyword) => {
      const sorted = [...names].sort(([left], [right]) => (left < right ? -1 : 1))
      return sorted.map(([file, set]) => `${keyword} { ${[...set].sort().join(', ')} } from '${prefix}${file}.js'`)
    },
  }
}
