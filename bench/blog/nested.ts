import type { AdditionOperation } from './additions.ts'

/** Rows with related ones (writes.sql), beside one statement that knows nothing of policies between them. */

interface Placed {
  readonly place: string
  readonly itemsCollection: { readonly insert: readonly { readonly label: string }[] }
}

const orders = (count: number, items: number): AdditionOperation => ({
  name: `insert-nested-${count}`,
  writes: true,
  document: `mutation Orders($objects: [OrdersInsertInput!]!) {
    insertIntoOrdersCollection(objects: $objects) { affectedCount records { id place } }
  }`,
  variables: (draw) => ({
    objects: Array.from({ length: count }, (): Placed => ({
      place: `Place ${draw(1e6)}`,
      itemsCollection: { insert: Array.from({ length: items }, () => ({ label: `Item ${draw(1e6)}` })) },
    })),
  }),
  hand: {
    name: `insert-nested-${count}`,
    text: `with o as (
        insert into orders (place) select x from unnest($1::text[]) x returning id, place
      ), k as (select row_number() over () as n, id, place from o), i as (
        insert into items (order_id, label) select k.id, x.label
        from unnest($2::int[], $3::text[]) as x(n, label) join k on k.n = x.n returning 1
      )
      select row_to_json(z) from (select (s.*)::record as "insertIntoOrdersCollection" from (
        select (select count(*) from o) + (select count(*) from i) as "affectedCount",
          array(select (r.*)::record from (select k.id, k.place from k order by k.n) r) as records) s) z`,
    values: ({ objects }) => {
      const all = objects as readonly Placed[]
      const arrayOf = (values: readonly (string | number)[]): string => `{${values.map((one) => `"${one}"`).join(',')}}`
      const children = all.flatMap(({ itemsCollection }, place) =>
        itemsCollection.insert.map(({ label }) => ({ place: place + 1, label })),
      )
      return [
        arrayOf(all.map(({ place }) => place)),
        arrayOf(children.map(({ place }) => place)),
        arrayOf(children.map(({ label }) => label)),
      ]
    },
  },
})

export const nestedOperations: readonly AdditionOperation[] = [orders(1, 3), orders(1000, 2)]
