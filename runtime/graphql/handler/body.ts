import { readJsonText } from '../../http/bodies.ts'
import { HttpFailure } from '../../http/boundary.ts'

/** The JSON text of a request. Rejects with HttpFailure. */
export async function bodyText(request: Request, mostBytes: number): Promise<string> {
  const headers = {
    'content-type': request.headers.get('content-type') ?? undefined,
    'content-encoding': request.headers.get('content-encoding') ?? undefined,
  }
  return readJsonText(headers, await bytesOf(request, mostBytes))
}

/** A body that is too large is not read to its end. */
async function bytesOf({ body }: Request, mostBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for (const reader = body?.getReader(); reader !== undefined;) {
    const { done, value } = await reader.read().catch(refuseBroken)
    if (done) break
    bytes += value.byteLength
    if (bytes > mostBytes) {
      await reader.cancel()
      throw new HttpFailure('BODY_TOO_LARGE')
    }
    parts.push(value)
  }
  return Buffer.concat(parts)
}

/** The client aborted the body. */
function refuseBroken(): never {
  throw new HttpFailure('REQUEST_MALFORMED')
}
