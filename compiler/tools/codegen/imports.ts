import type { Module } from './layout.ts'

/** Collects what a file has to import from others of its client. */
export interface Imports {
  /** Notes a name that a module exports, and returns it. */
  readonly add: (module: Module | undefined, name: string) => string
  /** One statement for each module, in the order of their paths. */
  readonly lines: (keyword: 'import' | 'import type') => readonly string[]
}

export function createImports(path: string): Imports {
  const names = new Map<string, Set<string>>()
  const prefix = path.includes('/') ? '../' : './'
  return {
    add: (module, name) => {
      if (module !== undefined && module.path !== path) {
        names.set(module.path, (names.get(module.path) ?? new Set()).add(name))
      }
      return name
    },
    lines: (keyword) => {
      const sorted = [...names].sort(([left], [right]) => (left < right ? -1 : 1))
      return sorted.map(([file, set]) => `${keyword} { ${[...set].sort().join(', ')} } from '${prefix}${file}.js'`)
    },
  }
}
