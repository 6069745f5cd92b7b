import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { column, extensionType, schema, table } from '../../../support/catalog-literal.ts'
import { fieldsOf, introspect, namesOf } from '../../../support/api-schema.ts'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { postgisMajor } from '../../../support/clusters.ts'
import { runBuilt } from '../../../support/built-cli.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'
import { build } from '../../../compiler/model/build.ts'

const on = '@graphql({"introspection": true, "geo": {"enabled": true}})'

describe('geo: the setting', () => {
  const mercator = (3857 << 8) | 4
  const built = (comment: string | null) =>
    build({
      schemas: [schema('public', comment)],
      types: [extensionType('geometry', 'gis'), extensionType('geography', 'gis'), extensionType('box2d', 'gis')],
      relations: [
        table('place', [
          column('id', 'int4', { notNull: true }),
          column('at', 'gis.geography'),
          column('area', 'gis.geometry', { modifier: mercator }),
          column('box', 'gis.box2d'),
        ]),
      ],
    })
  const typesOf = (comment: string | null) =>
    built(comment)
      .entity('place')
      .columns.map(({ type }) => type?.kind === 'scalar' && type.name)

  it('is off until the schema switches it on', () => {
    const off = ['Int', 'Opaque', 'Opaque', 'Opaque']
    expect([typesOf(null), typesOf('@graphql({"geo": {"enabled": false}})')]).toEqual([off, off])
    expect(built(null).model.manifest).not.toHaveProperty('geo')
    expect(typesOf(on)).toEqual(['Int', 'GeoJSON', 'GeoJSON', 'Opaque'])
  })

  it('shows the reference system of a column by its type', () => {
    const { columns } = built(on).model.entities[0] ?? { columns: [] }
    expect(columns.map(({ geo }) => geo && [geo.kind, geo.srid])).toEqual([
      undefined,
      ['geography', 4326],
      ['geometry', 3857],
      undefined,
    ])
  })

  it('is reported where it is misspelt or in the wrong place', () => {
    const told = (ofSchema: string | null, ofTable: string | null) =>
      build({
        schemas: [schema('public', ofSchema)],
        relations: [table('t', [column('id', 'int4', { notNull: true })], { comment: ofTable })],
      }).diagnostics.map(({ object, message, fix }) => [object, message, fix].join(' | '))
    expect(told('@graphql({"geos": {"enabled": true}})', null)).toEqual([expect.stringMatching(/Did you mean "geo"\?/)])
    expect(told(null, on).filter((text) => text.includes('geo'))).toEqual([
      expect.stringMatching(/table public\.t.*Set it in the comment of a schema/),
    ])
  })

  it('has its names only where it is on: a table that is called like one of them loses its type', () => {
    const named = (comment: string | null) =>
      build({ schemas: [schema('public', comment)], relations: [table('GeoJSON')] }).diagnostics.map(({ code }) => code)
    expect([named(null), named(on)]).toEqual([[], ['name-taken']])
  })
})

const major = postgisMajor()

describe.skipIf(major === null)(`geo: answers${major === null ? ' (SKIPPED: PostGIS is not installed)' : ''}`, () => {
  const service = forSuite(createTestService, {
    ...(major !== null && { major }),
    sql: `
        comment on schema public is '@graphql({"introspection": true, "geo": {"enabled": true},
          "domains": {"enabled": true}, "composites": {"enabled": true}})';
        create schema "Odd gis";
        create extension postgis schema "Odd gis";
        grant usage on schema "Odd gis" to anon;
        set search_path = public, "Odd gis";
        create table place (id int primary key, at geography(Point), spot geometry(Point, 25832), area geometry(Polygon));
        insert into place select n, st_point(n % 100, n / 200)::geography, st_setsrid(st_point(n % 100, n / 100), 25832)
          from generate_series(0, 9999) n;
        create index on place using gist (at);
        create index on place using gist (spot);
        create table grid (id int primary key, box geometry);
        create table kept (id int generated always as identity primary key, shape geometry(Geometry, 3857));
        create table typed (id int primary key, line geometry(LineString, 4326));
        create domain metric as geometry(Point, 25832);
        create domain far as metric;
        create type pin as (label text, spot geometry(Point, 25832));
        create table pinned (id int primary key, spot far, pin pin);
        insert into pinned select n, st_setsrid(st_point(n, 0), 25832), row('x', st_setsrid(st_point(n, 0), 25832))::pin
          from generate_series(0, 9) n;
        create function echo(spot far) returns far language sql immutable as 'select spot';
        grant all on place, grid, kept, typed, pinned to anon;
        analyze;
      `,
  })

  const point = (...coordinates: number[]) => ({ type: 'Point', coordinates })
  const box = (x: number, y: number, width: number, height: number) => ({
    type: 'Polygon',
    coordinates: [
      [
        [x, y],
        [x + width, y],
        [x + width, y + height],
        [x, y + height],
        [x, y],
      ],
    ],
  })

  it('are of a scalar of their own, with a filter of their own and no order', async () => {
    const api = await introspect(service)
    expect(fieldsOf(api, 'placeFilter').slice(0, 4)).toEqual([
      'id: IntFilter',
      'at: GeoJSONFilter',
      'spot: GeoJSONFilter',
      'area: GeoJSONFilter',
    ])
    expect(fieldsOf(api, 'placeOrderBy')).toEqual(['id: OrderByDirection'])
    expect(fieldsOf(api, 'placeInsertInput')).toContain('spot: GeoJSON')
    expect(fieldsOf(api, 'GeoJSONFilter')).toEqual([
      'contains: GeoJSON',
      'dWithin: GeoJSONDistance',
      'intersects: GeoJSON',
      'within: GeoJSON',
      'is: FilterIs',
    ])
  })

  const found = async (filter: unknown, table = 'place'): Promise<readonly number[]> => {
    const query = `query Q($filter: ${table}Filter) { c: ${table}Collection(filter: $filter) { edges { node { id } } } }`
    const { c } = dataOf(await service.graphql(query, { variables: { filter } }))
    return c.edges.map(({ node }: { node: { id: number } }) => node.id)
  }

  it.each([
    ['at', 'intersects', point(7, 0), [7, 107]],
    ['at', 'within', box(6.5, -0.5, 1, 1), [7, 107]],
    ['at', 'contains', point(7, 0), [7, 107]],
    ['at', 'dWithin', { geometry: point(7, 0.01), distance: 1200 }, [7, 107]],
    ['spot', 'intersects', point(7, 0), [7]],
    ['spot', 'within', box(6.5, -0.5, 1, 2), [7, 107]],
    ['spot', 'contains', point(7, 0), [7]],
    ['spot', 'dWithin', { geometry: point(7, 0.5), distance: 0.5 }, [7, 107]],
  ])('find by the spatial index: %s %s', async (name, operator, operand, ids) => {
    expect(await found({ [name]: { [operator]: operand } })).toEqual(ids)
    const plan = await lastPlan(service)
    expect(plan).toContain(`"Index Name":"place_${name}_idx"`)
    expect(plan).not.toContain('Seq Scan')
  })

  it.each([
    ['text', 'POINT(1 2)', 'a geometry is an object'],
    ['a list', [1, 2], 'a geometry is an object'],
    ['a feature', { type: 'Feature', geometry: point(1, 2) }, /"type" is none of Point, /],
    ['no coordinates', { type: 'Point' }, 'a Point has "coordinates"'],
    ['no geometries', { type: 'GeometryCollection', geometries: {} }, 'a GeometryCollection has "geometries"'],
    ['one number', point(1), 'a position has two or three numbers'],
    ['four numbers', point(1, 2, 3, 4), 'a position has two or three numbers'],
    ['no numbers', { type: 'Point', coordinates: ['1', '2'] }, 'a position consists of numbers'],
    ['a number too large', point(1, 2 ** 64), 'none beyond 2^53'],
    ['too shallow', { type: 'Polygon', coordinates: [[1, 2]] }, /coordinates are arrays/],
    ['a line of one', { type: 'LineString', coordinates: [[1, 2]] }, 'a line has two positions or more'],
    [
      'an open ring',
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 1],
          ],
        ],
      },
      /its last one is its first/,
    ],
    [
      'a short ring',
      {
        type: 'MultiPolygon',
        coordinates: [
          [
            [
              [0, 0],
              [1, 0],
              [0, 0],
            ],
          ],
        ],
      },
      /four positions or more/,
    ],
    ['a link for a crs', { ...point(1, 2), crs: { type: 'link', properties: {} } }, '"crs" names no code of EPSG'],
    [
      'a name for a crs',
      { ...point(1, 2), crs: { type: 'name', properties: { name: 'WGS' } } },
      '"crs" names no code of EPSG',
    ],
  ])('refuse %s with what is wrong with it, before anything runs', async (_, geometry, problem) => {
    const before = service.exchanges.length
    const query = 'query Q($g: GeoJSON) { placeCollection(filter: {at: {intersects: $g}}) { edges { cursor } } }'
    const answer = await service.graphql(query, { variables: { g: geometry } })
    expect(answer.errors?.[0]?.extensions.code).toBe('BAD_VARIABLES')
    const wanted = typeof problem === 'string' ? expect.stringContaining(problem) : expect.stringMatching(problem)
    expect(messagesOf(answer)).toEqual([wanted])
    expect(service.exchanges.slice(before).flatMap(({ statements }) => statements)).toEqual([])
  })

  it('refuse what does not fit: negative distances, other types than the column has, unknown reference systems', async () => {
    const refused = async (query: string) => {
      const { errors } = await service.graphql(query)
      return [errors?.[0]?.extensions.code, errors?.[0]?.message]
    }
    const near = '{geometry: {type: Point, coordinates: [1, 2]}, distance: -1}'
    expect(await refused(`{ placeCollection(filter: {at: {dWithin: ${near}}}) { edges { cursor } } }`)).toEqual([
      'BAD_ARGUMENT',
      '`distance` must not be negative',
    ])
    const insert = (geometry: string) =>
      `mutation { insertIntotypedCollection(objects: [{id: 1, line: ${geometry}}]) { affectedCount } }`
    expect(await refused(insert('{type: Point, coordinates: [1, 2]}'))).toEqual([
      'DATABASE_REFUSED',
      'Geometry type (Point) does not match column type (LineString)',
    ])
    const crs = '{type: name, properties: {name: "EPSG:999998"}}'
    expect(await refused(insert(`{type: LineString, coordinates: [], crs: ${crs}}`))).toEqual([
      'DATABASE_REFUSED',
      expect.stringMatching(/unknown \(0\) SRID/),
    ])
  })

  it('are in the reference system that a domain or an attribute says, without saying so', async () => {
    const crs = { type: 'name', properties: { name: 'EPSG:25832' } }
    const near = { dWithin: { geometry: point(7, 0), distance: 1 } }
    expect([await found({ spot: near }, 'pinned'), await found({ pin: { spot: near } }, 'pinned')]).toEqual([
      [6, 7, 8],
      [6, 7, 8],
    ])
    const query = `mutation Q($g: GeoJSON) { insertIntopinnedCollection(objects: [{id: 10, spot: $g}]) { records { spot } } }`
    expect(dataOf(await service.graphql(query, { variables: { g: point(1, 2) } }))).toEqual({
      insertIntopinnedCollection: { records: [{ spot: { ...point(1, 2), crs } }] },
    })
    const echo = await service.graphql('query Q($g: GeoJSON!) { echo(spot: $g) }', { variables: { g: point(1, 2) } })
    expect(dataOf(echo)).toEqual({ echo: { ...point(1, 2), crs } })
  })

  it('stand beside the functions of PostGIS where it is in a served schema', async () => {
    const own = await createTestService({
      ...(major !== null && { major }),
      sql: `comment on schema public is '@graphql({"introspection": true, "geo": {"enabled": true},
          "functionShapes": {"enabled": true}})';
        create extension postgis;
        create table place (id int primary key, at geometry(Point, 3857));
        create function nearest(g geometry) returns place language sql stable as 'select * from place order by at <-> g limit 1';
        comment on function st_area(geometry) is '@graphql({"name": "area"})';
        grant select on place to anon`,
    })
    onTestFinished(() => own.close())
    // functionShapes adds no function that an extension brought, unless a comment names it (spec/graphql.md, decision
    // 17).
    const fields = namesOf(await introspect(own), 'Query')
    expect(fields).toEqual(expect.arrayContaining(['area', 'nearest', 'placeByPk', 'placeCollection']))
    expect(fields).not.toContain('st_x')
  })

  it('take variables for whole geometries, not for parts of one', async () => {
    const query =
      'query Q($x: Float) { placeCollection(filter: {at: {intersects: {type: Point, coordinates: [$x, 1]}}}) { edges { cursor } } }'
    expect(messagesOf(await service.graphql(query, { variables: { x: 1 } }))[0]).toMatch(
      /a position consists of numbers/,
    )
  })

  it('are known to verify', async () => {
    const run = ['verify', '--role', 'anon', '--minutes', '0.05', '--rows', '300', '--json']
    const { exitCode, stdout } = await runBuilt(run, { DATABASE_URL: service.db.url })
    expect(exitCode, stdout).toBe(0)
    expect(JSON.parse(stdout).verdicts[0]).toMatchObject({ role: 'anon', differences: [] })
  })

  it('law: are read as they were written, to the last digit and in the reference system of the column', async () => {
    // Minus zero is the same place as zero.
    const number = fc
      .oneof(fc.integer(), fc.double({ noNaN: true, min: -(2 ** 53) + 1, max: 2 ** 53 - 1 }))
      .map((value) => value + 0)
    const position = fc.tuple(number, number)
    const line = fc.array(position, { minLength: 2, maxLength: 4 })
    const ring = fc.array(position, { minLength: 3, maxLength: 4 }).map((open) => [...open, open[0]])
    const of = (type: string, coordinates: fc.Arbitrary<unknown>) => fc.record({ type: fc.constant(type), coordinates })
    const some = <T>(item: fc.Arbitrary<T>, minLength = 0) => fc.array(item, { minLength, maxLength: 3 })
    // PostGIS leaves out what is empty inside of a collection.
    const full = fc.oneof(of('Point', position), of('LineString', line), of('Polygon', some(ring, 1)))
    const geometry = fc.oneof(
      full,
      of('Point', fc.constant([])),
      of('MultiPoint', some(position)),
      of('MultiLineString', some(line)),
      of('Polygon', fc.constant([])),
      of('MultiPolygon', some(some(ring, 1))),
      fc.record({ type: fc.constant('GeometryCollection'), geometries: some(full) }),
    )
    const write = 'mutation M($o: [keptInsertInput!]!) { insertIntokeptCollection(objects: $o) { records { shape } } }'
    await fc.assert(
      fc.asyncProperty(fc.array(geometry, { minLength: 1, maxLength: 8 }), async (shapes) => {
        const variables = { o: shapes.map((shape) => ({ shape })) }
        const { records } = dataOf(await service.graphql(write, { variables })).insertIntokeptCollection
        expect(records.map(({ shape }: { shape: { crs: unknown } }) => ({ ...shape, crs: undefined }))).toEqual(shapes)
        expect(records[0].shape.crs).toEqual({ type: 'name', properties: { name: 'EPSG:3857' } })
      }),
      { numRuns: 60 },
    )
  })
})
