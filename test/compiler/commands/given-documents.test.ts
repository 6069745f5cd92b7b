import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { givenDocuments } from '../../../compiler/commands/given-documents.ts'

const text = 'query Titles { postCollection { edges { node { title } } } }'
const hashBy = (algorithm: string): string => createHash(algorithm).update(text).digest('hex')
const apollo = (change: object = {}): object => ({
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [{ id: hashBy('sha256'), name: 'Titles', type: 'query', body: text, ...change }],
})

function read(content: unknown): ReturnType<typeof givenDocuments> {
  const folder = mkdtempSync(join(tmpdir(), 'catalograph-documents-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'manifest.json')
  writeFileSync(file, JSON.stringify(content))
  return givenDocuments(file)
}

it.each<[string, unknown]>([
  ['texts by their SHA-256', { [hashBy('sha256')]: text }],
  ['texts by a prefixed SHA-256', { [`sha256:${hashBy('sha256')}`]: text }],
  ['what codegen writes', { '//': 'Made by codegen', [hashBy('sha256')]: text }],
  ["Apollo's manifest", apollo()],
])('documents are read from %s', async (_name, content) => {
  expect(await read(content)).toMatchObject([{ text, source: expect.stringMatching(/manifest\.json#Titles$/) }])
})

it.each<[string, unknown, string]>([
  ["Relay's MD5", { [hashBy('md5')]: text }, 'of relay-compiler set persistConfig.algorithm to SHA256'],
  ["the generator's SHA-1", { [hashBy('sha1')]: text }, 'set persistedDocuments.hashAlgorithm to sha256'],
  ['the hash of another text', { [hashBy('sha256')]: `${text} ` }, 'does not have this SHA-256'],
  ["a wrong id in Apollo's manifest", apollo({ body: '{ a }' }), 'does not have this SHA-256'],
  ['another version of it', { ...apollo(), version: 2 }, 'version 2; this reads texts by their SHA-256, and apollo'],
  ['a format that is not known', { format: 'other', operations: [] }, 'has the format "other"'],
  ['a list', [text], 'holds no object of texts by their hashes'],
])('documents are refused with the reason for %s', async (_name, content, reason) => {
  await expect(read(content)).rejects.toThrow(reason)
})
