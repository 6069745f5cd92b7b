import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { entityFile } from '../../../runtime/contract/artifact.ts'
import { objectId } from '../../../runtime/contract/facts.ts'
import { loadRevision } from '../../../runtime/engine/load.ts'
import { artifactsAsPrinted, type Artifacts } from '../../../compiler/emit/artifacts.ts'
import { diffArtifacts, printDifferences, diffLines } from '../../../compiler/emit/diff.ts'
import { localDisk, type Disk, writeArtifacts } from '../../../compiler/emit/disk.ts'
import { createEmitter } from '../../../compiler/emit/emit.ts'
import { makeArtifacts } from '../../../compiler/emit/make-artifacts.ts'
import { column, entity, model } from './models.ts'

let out = ''
beforeEach(async () => {
  out = join(await mkdtemp(join(tmpdir(), 'artifacts-')), 'generated')
})
afterEach(() => rm(join(out, '..'), { recursive: true, force: true }))

const version = '1.2.3'

async function artifactsOf(...types: readonly string[]): Promise<Artifacts> {
  const made = model(types.map((type, index) => entity('public', `table_${index}`, { columns: [column('id', type)] })))
  const { value } = await createEmitter()(made, '7')
  return makeArtifacts(made, value, () => 'type Query', version)
}

describe('artifacts on disk', () => {
  it('are loaded as they were written, following no database', async () => {
    const { revision, files } = await artifactsOf('int4', 'text')
    await writeArtifacts(out, { revision, files })
    expect(await loadRevision(out)).toEqual({ ...revision, version: null })
    expect(await readFile(join(out, revision.id, 'schema.anon.graphql'), 'utf8')).toBe('type Query\n')
  })

  it('replace the revision before, and leave files of others alone', async () => {
    await writeArtifacts(out, await artifactsOf('int4'))
    await writeFile(join(out, 'README.md'), 'mine')
    const next = await artifactsOf('int8')
    await writeArtifacts(out, next)
    expect((await readdir(out)).sort()).toEqual(['README.md', 'current.json', next.revision.id].sort())
    expect((await loadRevision(out)).id).toBe(next.revision.id)
  })

  it('are written again when they were damaged', async () => {
    const artifacts = await artifactsOf('int4')
    await writeArtifacts(out, artifacts)
    const folder = join(out, artifacts.revision.id)
    await writeFile(join(folder, 'functions.cjs'), 'module.exports = 1')
    await writeFile(join(folder, 'stray.txt'), '')
    await writeArtifacts(out, artifacts)
    expect((await loadRevision(out)).id).toBe(artifacts.revision.id)
    expect(await readdir(folder)).not.toContain('stray.txt')
  })

  it('are not read again where they were just read', async () => {
    const artifacts = await artifactsOf('int4')
    await writeArtifacts(out, artifacts)
    const read: string[] = []
    const disk = { ...localDisk, read: (path: string) => (read.push(path), localDisk.read(path)) }
    const [kept = '', ...others] = Object.keys(artifacts.files)
    await writeArtifacts(out, { ...artifacts, kept: new Set([kept]) }, disk)
    expect(read).toEqual(others.map((path) => join(out, artifacts.revision.id, path)))
  })

  it('are taken as they stand printed, by the same version and unchanged', async () => {
    const artifacts = await artifactsOf('int4')
    const { revision, files } = artifacts
    const taken = (by = version): Artifacts | null => artifactsAsPrinted(out, revision, by)
    expect(taken()).toBeNull()
    await writeArtifacts(out, artifacts)
    expect(taken()?.files).toEqual(files)
    expect(Object.keys(files).filter((path) => taken()?.kept?.has(path) !== true)).toEqual([
      'manifest.json',
      'functions.cjs',
      ...revision.entities.map(({ id }) => entityFile(id)),
    ])
    expect(taken('1.2.4')).toBeNull()
    for (const path of taken()?.kept ?? []) {
      const place = join(out, revision.id, path)
      await writeFile(place, `${files[path]} `)
      expect([path, taken()]).toEqual([path, null])
      await rm(place)
      expect([path, taken()]).toEqual([path, null])
      await writeArtifacts(out, artifacts)
      expect([path, taken()?.files]).toEqual([path, files])
    }
  })

  it('stay whole wherever writing breaks off', async () => {
    const [before, after] = [await artifactsOf('int4'), await artifactsOf('int8', 'text')]
    const states = new Set<string>()
    for (let step = 0; ; step++) {
      await rm(out, { recursive: true, force: true })
      await writeArtifacts(out, before)
      const failed = await writeArtifacts(out, after, failingDisk(step)).then(
        () => false,
        () => true,
      )
      const { id } = await loadRevision(out)
      states.add(id)
      expect([before.revision.id, after.revision.id]).toContain(id)
      if (!failed) break
      await writeArtifacts(out, after)
      expect((await readdir(out)).sort()).toEqual(['current.json', after.revision.id].sort())
    }
    expect(states.size).toBe(2)
  })
})

/** Fails at one operation that changes something, after half a file was written, and at all that follow. */
function failingDisk(step: number): Disk {
  let count = 0
  const guard = async (half: () => Promise<void>, whole: () => Promise<void>): Promise<void> => {
    if (count++ < step) return whole()
    if (count === step + 1) await half()
    throw new Error('disk is gone')
  }
  return {
    ...localDisk,
    write: (path, text, durable) =>
      guard(
        () => localDisk.write(path, text.slice(0, text.length / 2), durable),
        () => localDisk.write(path, text, durable),
      ),
    rename: (from, to) =>
      guard(
        () => Promise.resolve(),
        () => localDisk.rename(from, to),
      ),
    remove: (path) =>
      guard(
        () => Promise.resolve(),
        () => localDisk.remove(path),
      ),
  }
}

describe('loading artifacts', () => {
  it('refuses a folder without artifacts', async () => {
    await expect(loadRevision(out)).rejects.toMatchObject({ name: 'ArtifactFailure', kind: 'missing' })
  })

  it.each(['functions.cjs', 'manifest.json', entityFile(objectId('public', 'table_0'))])(
    'refuses a changed %s',
    async (path) => {
      const artifacts = await artifactsOf('int4')
      await writeArtifacts(out, artifacts)
      const file = join(out, artifacts.revision.id, path)
      await writeFile(file, `${await readFile(file, 'utf8')} `)
      await expect(loadRevision(out)).rejects.toMatchObject({ kind: 'damaged' })
      await rm(file)
      await expect(loadRevision(out)).rejects.toMatchObject({ kind: 'missing' })
    },
  )

  it('another format, and text that is not a manifest', async () => {
    const artifacts = await artifactsOf('int4')
    await writeArtifacts(out, artifacts)
    const file = join(out, artifacts.revision.id, 'manifest.json')
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace('"format":1', '"format":2'))
    await expect(loadRevision(out)).rejects.toMatchObject({ kind: 'format' })
    await writeFile(file, text.slice(0, 40))
    await expect(loadRevision(out)).rejects.toMatchObject({ kind: 'damaged' })
  })

  it.each(['{}', '[]', '{"revision":"../../etc"}', '{"revision":1}', 'null', ''])(
    'refuses %j as current.json',
    async (text) => {
      await mkdir(out, { recursive: true })
      await writeFile(join(out, 'current.json'), text)
      await expect(loadRevision(out)).rejects.toMatchObject({ kind: 'damaged' })
    },
  )
})

describe('comparing with what is on disk', () => {
  it('finds nothing after writing', async () => {
    const artifacts = await artifactsOf('int4')
    await writeArtifacts(out, artifacts)
    expect(await diffArtifacts(out, artifacts)).toEqual([])
  })

  it('finds everything when nothing is there', async () => {
    const artifacts = await artifactsOf('int4')
    const found = await diffArtifacts(out, artifacts)
    expect(found.map(({ path }) => path).sort()).toEqual([...Object.keys(artifacts.files), 'current.json'].sort())
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['added']))
  })

  it('shows the changed lines of a changed table, and stray files', async () => {
    await writeArtifacts(out, await artifactsOf('int4', 'int4'))
    const after = await artifactsOf('int4', 'int8')
    const found = await diffArtifacts(out, after)
    expect(found.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'changed current.json',
      'changed entities/public.table_1.cjs',
    ])
    expect(found[1]?.diff.split('\n').filter((line) => /^[-+]/.test(line))).toEqual([
      "-const as_int4 = values('int4', 'text', '::int4', '::int4[]', (value) => value)",
      "+const as_int8 = values('int8', 'text', '::int8', '::int8[]', (value) => value)",
      `-    'id': { of: (row) => row + '."id"', notNull: false, ...as_int4 },`,
      `+    'id': { of: (row) => row + '."id"', notNull: false, ...as_int8 },`,
    ])
    expect(printDifferences(found)).toContain('--- entities/public.table_1.cjs (changed)\n@@ ')
  })

  it('sees a stray and a lost file', async () => {
    const artifacts = await artifactsOf('int4')
    await writeArtifacts(out, artifacts)
    const folder = join(out, artifacts.revision.id)
    await rename(join(folder, 'functions.cjs'), join(folder, 'stray.cjs'))
    expect((await diffArtifacts(out, artifacts)).map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'added functions.cjs',
      'removed stray.cjs',
    ])
  })
})

describe('diffLines', () => {
  it.each([
    ['', '', ''],
    ['a\nb\n', 'a\nb\n', ''],
    ['', 'a\n', '@@ 1 @@\n+a\n'],
    ['a\n', '', '@@ 1 @@\n-a\n'],
    ['1\n2\n3\n4\n5\n6\n7\n8\n', '1\n2\n3\n4\nx\n6\n7\n8\n', '@@ 3 @@\n 3\n 4\n-5\n+x\n 6\n 7\n'],
    ['a\nb\nc\n', 'b\nc\nd\n', '@@ 1 @@\n-a\n b\n c\n+d\n'],
  ])('shows what differs: %j -> %j', (before, after, diff) => expect(diffLines(before, after)).toBe(diff))
})

describe('file names of entities', () => {
  it.each([
    ['public', 'posts', 'entities/public.posts.cjs'],
    ['public', 'blog post', 'entities/public.blog%20post.cjs'],
    ['a.b', 'c', 'entities/a%2eb.c.cjs'],
    ['a', 'b.c', 'entities/a.b%2ec.cjs'],
    ['public', '../x', 'entities/public.%2e%2e%2fx.cjs'],
    ['public', 'é~', 'entities/public.%c3%a9%7e.cjs'],
  ])('follow from schema and name: %s, %s -> %s', (schema, name, file) =>
    expect(entityFile(objectId(schema, name))).toBe(file),
  )

  it('differ even where case does not count', () => {
    const files = ['posts', 'Posts', 'POSTS'].map((name) => entityFile(objectId('public', name)).toLowerCase())
    expect(new Set(files).size).toBe(3)
  })

  it('are never longer than file systems allow', () => {
    const [one, two] = ['a', 'b'].map((end) => entityFile(objectId('€'.repeat(21), '€'.repeat(20) + end)))
    expect(one).not.toBe(two)
    expect(one?.length).toBeLessThan(200)
  })
})
