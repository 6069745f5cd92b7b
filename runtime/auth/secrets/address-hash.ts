import { createHmac } from 'node:crypto'

/** Under what guesses of an address are counted: a reader of the table learns no address. `email` in lower case. */
export function createAddressHash(projectSecret: string): (email: string) => Buffer {
  const key = createHmac('sha256', projectSecret).update('catalograph password guesses').digest()
  return (email) => createHmac('sha256', key).update(email).digest()
}
