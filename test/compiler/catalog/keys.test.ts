import { afterEach, describe, expect, test } from 'vitest'
import type { Catalog } from '../../../compiler/catalog/catalog.ts'
import { catalogOf, relationNamed } from '../../support/catalog.ts'
import { createDatabase, majors, type Major, type TestDatabase } from '../../support/database.ts'

/** The facts about keys and nulls that a catalogue may state, and those that it must not. */
const open: TestDatabase[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((database) => database.drop()))
})

const read = async (major: Major, sql: string): Promise<Catalog> => {
  const database = await createDatabase({ major, sql })
  open.push(database)
  return catalogOf(database)
}

const foreignKeys = (catalog: Catalog, name: string): unknown[] =>
  relationNamed(catalog, name).foreignKeys.map((key) => [key.foreignRelation, key.guaranteed])

describe.each(majors().map((major) => [major] as const))('keys on PostgreSQL %i', (major) => {
  test('a foreign key to a partitioned table also refers to each partition, of which none holds all rows', async () => {
    const catalog = await read(
      major,
      `create table parent (id int primary key) partition by range (id);
       create table part partition of parent for values from (0) to (10) partition by range (id);
       create table leaf partition of part for values from (0) to (5);
       create table child (id int primary key, parent_id int not null references parent) partition by range (id);
       create table child_part partition of child for values from (0) to (10);`,
    )
    expect(relationNamed(catalog, 'parent').kind).toBe('p')
    expect(relationNamed(catalog, 'leaf').kind).toBe('r')
    expect(relationNamed(catalog, 'leaf').primaryKey).toEqual(['id'])
    expect(foreignKeys(catalog, 'child')).toEqual([
      ['parent', true],
      ['part', false],
      ['leaf', false],
    ])
    expect(foreignKeys(catalog, 'child_part')).toEqual([['parent', true]])
  })

  test('a foreign key that is not validated guarantees nothing', async () => {
    const catalog = await read(
      major,
      `create table parent (id int primary key);
       create table child (parent_id int not null);
       alter table child add foreign key (parent_id) references parent not valid;`,
    )
    expect(foreignKeys(catalog, 'child')).toEqual([['parent', false]])
  })

  test('an index that is not valid is not a key', async () => {
    const catalog = await read(
      major,
      `create table parent (id int, a int) partition by range (id);
       create table part partition of parent for values from (0) to (10);
       create unique index on only parent (id);
       create unique index on part (a, id);`,
    )
    expect(relationNamed(catalog, 'parent').uniques).toEqual([])
    expect(relationNamed(catalog, 'part').uniques).toEqual([['a', 'id']])
  })

  test('a key that compares otherwise than its columns, or knows no inherited row, does not identify rows', async () => {
    const catalog = await read(
      major,
      `create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
       create table t (a int primary key, b int unique deferrable, c text collate loose, d text collate loose unique,
         e text unique, f int unique);
       create unique index on t (c collate "C");
       create unique index on t (e text_pattern_ops, f);
       create table whole (a int primary key) partition by range (a);
       create table part partition of whole for values from (0) to (9);
       create table parent (a int primary key);
       create table child () inherits (parent);`,
    )
    const identifying = (name: string): unknown => relationNamed(catalog, name).identifying
    expect(relationNamed(catalog, 't').uniques).toEqual([['a'], ['b'], ['c'], ['d'], ['e', 'f'], ['e'], ['f']])
    expect(identifying('t')).toEqual([['a'], ['b'], ['d'], ['e'], ['f']])
    expect([identifying('whole'), identifying('part')]).toEqual([[['a']], [['a']]])
    expect([relationNamed(catalog, 'parent').uniques, identifying('parent')]).toEqual([[['a']], []])
  })

  test('a NOT NULL that a table does not have which inherits, near or far, promises nothing', async () => {
    const loosely = (table: string, column: string): string =>
      major < 18 ? `alter table ${table} alter ${column} drop not null;` : ''
    const own = major < 18 ? '' : ' no inherit'
    const catalog = await read(
      major,
      `create schema aside;
       create table parent (id int primary key, a int not null${own}, b int not null${own}, c int not null, d int);
       create table other (b int not null${own}, e int not null);
       create table child () inherits (parent); ${loosely('child', 'a')}
       create table aside.grandchild () inherits (child, other); ${loosely('aside.grandchild', 'b')}
       create table whole (id int, a int not null, primary key (id)) partition by range (id);
       create table part partition of whole for values from (0) to (9);`,
    )
    const notNull = (name: string): unknown =>
      relationNamed(catalog, name).columns.flatMap((column) => (column.notNull ? [column.name] : []))
    expect(notNull('parent')).toEqual(['id', 'c'])
    expect(notNull('other')).toEqual(['e'])
    expect(notNull('child')).toEqual(major < 18 ? ['id', 'c'] : ['id', 'c'])
    expect([notNull('whole'), notNull('part')]).toEqual([
      ['id', 'a'],
      ['id', 'a'],
    ])
  })

  test('two unique indexes over the same columns are one set', async () => {
    const catalog = await read(major, 'create table t (a int primary key, b int unique, unique (a), unique (b, a))')
    expect(relationNamed(catalog, 't').uniques).toEqual([['a'], ['b', 'a'], ['b']])
  })
})

describe.runIf(majors().includes(18))('keys of PostgreSQL 18', () => {
  test('a NOT NULL that is not validated promises nothing, a validated one does, and neither is a key', async () => {
    const catalog = await read(
      18,
      `create table t (a int, b int, c int not null);
       alter table t add constraint a_there not null a not valid;
       alter table t add constraint b_there not null b;`,
    )
    expect(relationNamed(catalog, 't').columns.map((column) => column.notNull)).toEqual([false, true, true])
    expect(relationNamed(catalog, 't')).toMatchObject({ primaryKey: null, uniques: [], foreignKeys: [] })
  })

  test('a NOT NULL that is not validated in a table which inherits promises nothing of the other one', async () => {
    const catalog = await read(
      18,
      `create table parent (a int); create table child () inherits (parent);
       alter table child add constraint there not null a not valid;
       alter table only parent add constraint there not null a no inherit;`,
    )
    expect(relationNamed(catalog, 'parent').columns.map((column) => column.notNull)).toEqual([false])
  })

  test('virtual generated columns are generated', async () => {
    const catalog = await read(18, 'create table t (a int, b int generated always as (a * 2) virtual)')
    expect(relationNamed(catalog, 't').columns.map((column) => column.generated)).toEqual([false, true])
  })

  test('a foreign key that is not enforced guarantees nothing', async () => {
    const catalog = await read(
      18,
      `create table parent (id int primary key);
       create table child (parent_id int references parent not enforced);`,
    )
    expect(foreignKeys(catalog, 'child')).toEqual([['parent', false]])
  })

  test('a key over periods does not join by equality', async () => {
    const catalog = await read(
      18,
      `create extension btree_gist;
       create table parent (id int, during daterange, primary key (id, during without overlaps));
       create table child (id int, during daterange, parent_id int,
         foreign key (parent_id, period during) references parent (id, period during));`,
    )
    expect(relationNamed(catalog, 'child').foreignKeys).toEqual([])
    expect(relationNamed(catalog, 'parent').primaryKey).toEqual(['id', 'during'])
  })
})
