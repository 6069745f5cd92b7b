/** Where a service is, and a key of its project. */
interface Place {
  readonly url: string
  readonly anon: string
}

/** @param headers further ones, such as that of a caller's token */
export const postGraphql = (
  { url, anon }: Place,
  request: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(`${url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anon, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(request),
  })
