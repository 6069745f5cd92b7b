import { isUtf8 } from 'node:buffer'
import { refuse, type AuthFailure } from './errors.ts'
import { isJsonObject, type JsonObject, tryParseJson } from '../../lib/json.ts'

/** Bodies of requests (spec/auth.md 2.3). */

const deepest = 64

const malformed = (what: string): AuthFailure => refuse('bad_json', `Could not parse request body as JSON: ${what}`)

/** A JSON object; no body at all is an empty one. Throws 400 `bad_json`. */
export function readJsonBody(bytes: Buffer): JsonObject {
  if (bytes.length === 0) return {}
  if (!isUtf8(bytes)) throw malformed('it is not UTF-8')
  const value = tryParseJson(bytes.toString('utf8'))
  if (value === undefined) throw malformed('it is malformed')
  if (!isJsonObject(value)) throw malformed('it must be an object')
  checkValue(value, 0)
  return value
}

/** The fields of a form; the last of a name holds. */
export function readFormBody(bytes: Buffer): JsonObject {
  return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')))
}

/** What Postgres could not keep: NUL and halves of characters in a text, and more levels than anything of sense has. */
function checkValue(value: unknown, depth: number): void {
  if (depth > deepest) throw malformed('it is nested too deeply')
  if (typeof value === 'string') checkText(value)
  else if (Array.isArray(value)) for (const item of value) checkValue(item, depth + 1)
  else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      checkText(key)
      checkValue(value[key], depth + 1)
    }
  }
}

/** Halves of a pair that stand alone (with the flag u a whole pair is one character). */
const unstorable = /\0|[\ud800-\udfff]/u

function checkText(text: string): void {
  if (unstorable.test(text)) throw malformed('a text holds characters that cannot be stored')
}
