import type { AdditionOperation } from './additions.ts'

/** Rows with related ones (writes.sql), compared with one statement that ignores policies between them. */

interface Placed {
  readonly place: string
  readonly itemsCollection: { readonly insert: readonly { readonly label: string }[] }
}

const orders = (count: number, items: number): AdditionOperation => ({
  name: `insert-nested-${count}`,
  shows: ['nestedWrites'],
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

/** An order with one of its items changed and new ones; the item before its number belongs to it (writes.sql). */
const related = (count: number): AdditionOperation => ({
  name: `update-related-${count}`,
  shows: ['nestedWrites', 'updates'],
  writes: true,
  document: `mutation Order($id: BigInt!, $set: OrdersUpdateInput, $related: OrdersRelatedInput) {
    updateOrdersByPk(id: $id, set: $set, related: $related) { id place }
  }`,
  variables: (draw) => {
    const id = 1 + draw(19_999)
    return {
      id: String(id),
      set: { place: `Place ${draw(1e6)}` },
      related: {
        itemsCollection: {
          insert: Array.from({ length: count }, () => ({ label: `Item ${draw(1e6)}` })),
          update: [{ id: String(id - 1), set: { label: `Item ${draw(1e6)}` } }],
        },
      },
    }
  },
  hand: {
    name: `update-related-${count}`,
    text: `with o as (
        update orders set place = $2 where id = $1::int8 returning id, place
      ), i as (
        insert into items (order_id, label) select o.id, x from o, unnest($3::text[]) x
      ), u as (
        update items set label = x.label from o, unnest($4::int8[], $5::text[]) as x(id, label)
        where items.id = x.id and items.order_id = o.id
      )
      select row_to_json(z) from (select (select (r.*)::record from (select o.id::text, o.place from o) r) as "updateOrdersByPk") z`,
    values: ({ id, set, related: rows }) => {
      const { insert, update } = (rows as RelatedItems).itemsCollection
      return [
        String(id),
        (set as { readonly place: string }).place,
        arrayOf(insert.map(({ label }) => label)),
        arrayOf(update.map((one) => one.id)),
        arrayOf(update.map((one) => one.set.label)),
      ]
    },
  },
})

interface RelatedItems {
  readonly itemsCollection: {
    readonly insert: readonly { readonly label: string }[]
    readonly update: readonly { readonly id: string; readonly set: { readonly label: string } }[]
  }
}

const arrayOf = (values: readonly (string | number)[]): string => `{${values.map((one) => `"${one}"`).join(',')}}`

export const nestedOperations: readonly AdditionOperation[] = [orders(1, 3), orders(1000, 2), related(2), related(1000)]
