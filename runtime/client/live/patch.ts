import { isFields, type Fields } from '../json.ts'

/**
 * JSON Patch (RFC 6902). Nothing is changed in place: unchanged parts are shared with the old value. Throws TypeError
 * for an operation that fails, which leaves the old value unchanged.
 */
export const applyPatch = (document: unknown, patch: readonly unknown[]): unknown =>
  patch.reduce((value, operation) => applyOperation(value, isFields(operation) ? operation : {}), document)

type Change = (value: unknown) => unknown

function applyOperation(document: unknown, operation: Fields): unknown {
  const path = pathOf(operation['path'])
  const { value } = operation
  switch (operation['op']) {
    case 'add':
      return put(document, path, value, 'add')
    case 'remove':
      return remove(document, path)
    case 'replace':
      return put(document, path, value, 'replace')
    case 'move': {
      const from = pathOf(operation['from'])
      return put(remove(document, from), path, find(document, from), 'add')
    }
    case 'copy':
      return put(document, path, find(document, pathOf(operation['from'])), 'add')
    case 'test':
      if (!isSame(find(document, path), value)) throw new TypeError('A test of the patch failed')
      return document
    default:
      throw new TypeError('The patch holds something else than an operation')
  }
}

/** A JSON Pointer (RFC 6901) as its names. */
function pathOf(pointer: unknown): readonly string[] {
  if (typeof pointer !== 'string' || (pointer !== '' && !pointer.startsWith('/'))) throw nowhere()
  const [, ...names] = pointer.split('/')
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
}

const nowhere = (): TypeError => new TypeError('The patch leads nowhere')

/** An index of a list; `end` is one after the last. */
function indexOf(list: readonly unknown[], name: string, end: number): number {
  const index = name === '-' ? list.length : /^(0|[1-9]\d*)$/.test(name) ? Number(name) : -1
  if (index < 0 || index >= end) throw nowhere()
  return index
}

function find(value: unknown, path: readonly string[]): unknown {
  return path.reduce((at, name) => memberOf(at, name), value)
}

function memberOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value[indexOf(value, name, value.length)] as unknown
  if (!isFields(value) || !Object.hasOwn(value, name)) throw nowhere()
  return value[name]
}

/** The value with the list or object at the end of the path replaced by `change`. */
function changeParent(
  value: unknown,
  [name, ...deeper]: readonly string[],
  change: (parent: unknown, name: string) => unknown,
): unknown {
  if (name === undefined) throw nowhere()
  if (deeper.length === 0) return change(value, name)
  const member = changeParent(memberOf(value, name), deeper, change)
  return withMember(value, name, () => member)
}

function withMember(value: unknown, name: string, change: Change): unknown {
  if (Array.isArray(value)) return value.with(indexOf(value, name, value.length), change(memberOf(value, name)))
  return { ...(value as Fields), [name]: change(memberOf(value, name)) }
}

function put(document: unknown, path: readonly string[], value: unknown, how: 'add' | 'replace'): unknown {
  if (path.length === 0) return value
  return changeParent(document, path, (parent, name) => {
    if (how === 'replace') return withMember(parent, name, () => value)
    if (Array.isArray(parent)) return parent.toSpliced(indexOf(parent, name, parent.length + 1), 0, value)
    if (!isFields(parent)) throw nowhere()
    return { ...parent, [name]: value }
  })
}

function remove(document: unknown, path: readonly string[]): unknown {
  return changeParent(document, path, (parent, name) => {
    memberOf(parent, name)
    if (Array.isArray(parent)) return parent.toSpliced(Number(name), 1)
    const { [name]: _removed, ...rest } = parent as Fields
    return rest
  })
}

/** Whether two JSON values are equal (RFC 6902 4.6). */
export function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((item, at) => isSame(item, other[at]))
  if (!isFields(one) || !isFields(other)) return one === other
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  )
}
