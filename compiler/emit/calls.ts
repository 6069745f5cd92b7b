import { ident, qualified } from '../../runtime/sql/ident.ts'
import type { ArgumentSql, CallSql } from '../model/model.ts'
import { block, hole, jsFunction, jsString, moduleExports, moduleText, table } from './js-text.ts'
import { attributesText, jsonText, operandPieces } from './value-text.ts'

/** Root functions -> the JavaScript text of a record from function id to CallBuilder (runtime/contract/builder.ts). */
export const callsModule = (calls: readonly CallSql[]): string =>
  moduleText([
    '/** SQL builders of root functions. Compiled from the database: change that, not this file. */',
    moduleExports(calls.map((call) => `${jsString(call.id)}: ${block(callMembers(call))}`)),
  ])

const callMembers = (call: CallSql): readonly string[] => [
  `name: ${jsString(qualified(call.schema, call.function))}`,
  table('args', call.args, (argument) => [argument.field, argumentText(argument)]),
  `json: ${jsonText(call.json)}${attributesText(call.attributes)}`,
]

/** Named notation (PostgreSQL manual 4.3.2), so that arguments with defaults may be omitted. */
export const argumentText = (argument: ArgumentSql): string =>
  jsFunction('parameter', [
    argument.positional === true ? '' : `${ident(argument.name)} => `,
    ...operandPieces(argument, hole('parameter')),
  ])
