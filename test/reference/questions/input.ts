import type { Json } from '../interpreter/world.ts'
import type { Draw } from './draw.ts'

/** Placing input values in a document: as a literal, or as a variable beside it. */

export interface Word {
  readonly word: string
}

export interface Reference {
  readonly variable: string
}

export type Tree = null | boolean | number | string | Word | Reference | readonly Tree[] | Branch
export type Branch = ReadonlyMap<string, Tree>

const isWord = (tree: Tree): tree is Word => typeof tree === 'object' && tree !== null && 'word' in tree
export const isReference = (tree: Tree): tree is Reference =>
  typeof tree === 'object' && tree !== null && 'variable' in tree
const isBranch = (tree: Tree): tree is Branch => tree instanceof Map

export function printTree(tree: Tree): string {
  if (isWord(tree)) return tree.word
  if (isReference(tree)) return `$${tree.variable}`
  if (Array.isArray(tree)) return `[${tree.map(printTree).join(', ')}]`
  if (isBranch(tree)) return `{${[...tree].map(([name, value]) => `${name}: ${printTree(value)}`).join(', ')}}`
  return JSON.stringify(tree)
}

function toJson(tree: Tree): Json {
  if (isWord(tree)) return tree.word
  if (isReference(tree)) throw new Error('a variable cannot hold a variable')
  if (Array.isArray(tree)) return tree.map(toJson)
  if (isBranch(tree)) return Object.fromEntries([...tree].map(([name, value]) => [name, toJson(value)]))
  return tree as Json
}

const hasReference = (tree: Tree): boolean => {
  if (isReference(tree)) return true
  if (Array.isArray(tree)) return tree.some(hasReference)
  return isBranch(tree) && [...tree.values()].some(hasReference)
}

/** The variables of one operation. */
export interface Variables {
  readonly declarations: string[]
  readonly values: Record<string, Json>
}

/** The context of placing values. */
export interface Placing {
  readonly draw: Draw
  readonly variables: Variables
  /** Counts a feature of the specification. */
  readonly tell: (feature: string) => void
}

/** The value in the document: mostly literal, sometimes a variable with it. `type` is the expected one. */
export function place({ draw, variables, tell }: Placing, type: string, tree: Tree): Tree {
  if (hasReference(tree) || !draw.chance(30)) return tree
  const name = `v${variables.declarations.length}`
  if (draw.chance(20) && tree !== null) {
    tell('variable: default')
    variables.declarations.push(`$${name}: ${type} = ${printTree(tree)}`)
    return { variable: name }
  }
  tell(tree === null ? 'variable: null' : 'variable: value')
  variables.declarations.push(`$${name}: ${type}`)
  variables.values[name] = toJson(tree)
  return { variable: name }
}

/** A nullable variable without a value. */
export function absent({ variables, tell }: Placing, type: string): Reference {
  const name = `v${variables.declarations.length}`
  tell('variable: absent')
  variables.declarations.push(`$${name}: ${type}`)
  return { variable: name }
}
