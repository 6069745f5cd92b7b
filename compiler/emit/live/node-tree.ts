import type { Oid } from '../../catalog/catalog.ts'
import type { Fault, Mentions } from './mentions.ts'
import { isClaim, isMoment } from './system.ts'

/**
 * The dependencies of an expression that Postgres stores parsed (pg_node_tree): policies, views and bodies of
 * functions. The trees are read instead of pg_depend, which omits objects of the initial database.
 */
export const readTree = (tree: string): Mentions => ({
  relations: oidsOf(tree, /:relid (\d+)/g),
  functions: oidsOf(tree, /:(?:funcid|opfuncid|aggfnoid|winfnoid) (\d+)/g),
  operators: [
    ...oidsOf(tree, /:(?:opno|eqop|sortop) (\d+)/g),
    ...matches(tree, /:opnos \(o ([\d ]+)\)/g).flatMap((list) => list.trim().split(' ')),
  ],
  names: [],
  faults: [...clockFaults(tree), ...sampleFaults(tree), ...settingFaults(tree)],
})

const matches = (text: string, pattern: RegExp): readonly string[] =>
  Array.from(text.matchAll(pattern), ([, found = '']) => found)

const oidsOf = (tree: string, pattern: RegExp): readonly Oid[] =>
  [...new Set(matches(tree, pattern))].filter((oid) => oid !== '0')

/** Members of SQLValueFunctionOp up to this one are dates and times (Postgres' primnodes.h); the rest are names of roles. */
const lastMoment = 8

/** A text that becomes a date at run time may be `now`; a literal of a date has become one before. */
const castLiteral = /\{COERCEVIAIO :arg \{CONST [^{}]*:constvalue \d+ \[ ([-\d ]+) \]\}/g

function clockFaults(tree: string): readonly Fault[] {
  const asks = matches(tree, /\{SQLVALUEFUNCTION :op (\d+)/g).some((op) => Number(op) <= lastMoment)
  return asks || matches(tree, castLiteral).some((bytes) => isMoment(decodedBytes(bytes))) ? [{ kind: 'clock' }] : []
}

/** The rows of a sample are random. */
const sampleFaults = (tree: string): readonly Fault[] =>
  tree.includes('{TABLESAMPLECLAUSE ') ? [{ kind: 'volatile' }] : []

/** 2077 and 3294 are current_setting(). */
const asksSetting = /:funcid (?:2077|3294) /g
const asksConstant = /:funcid (?:2077|3294) [^{}]*:args \(\{CONST [^{}]*:constvalue \d+ \[ ([-\d ]+) \]\}/g

function settingFaults(tree: string): readonly Fault[] {
  const names = matches(tree, asksConstant).map(decodedBytes)
  const others = names.filter((name) => !isClaim(name)).map((name): Fault => ({ kind: 'setting', name }))
  const asked = tree.match(asksSetting)?.length ?? 0
  return asked === names.length ? others : [...others, { kind: 'unknown' }]
}

/** Bytes of a value of type text, after the four of its length; they are printed as signed. */
const decodedBytes = (bytes: string): string =>
  Buffer.from(
    bytes
      .trim()
      .split(/\s+/)
      .slice(4)
      .map((byte) => Number(byte) & 255),
  ).toString()
