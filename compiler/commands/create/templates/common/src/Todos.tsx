import { useDb, useList, useLive, useMutation, type ListPage } from '@catalograph/client/react'
import type { Answer } from '@catalograph/client/sdk'
import type { FormEvent } from 'react'
import { createDb } from './db/db.js'
import type { Todo } from './db/rows.js'

const select = { id: true, title: true, done: true } as const
type Row = Answer<Todo, typeof select>

/** Open ones, newest first: live. */
export const openTodos = {
  first: 30,
  filter: { done: { eq: false } },
  orderBy: [{ createdAt: 'DescNullsLast' }, { id: 'AscNullsLast' }],
  select,
} as const

/** Done ones: page by page. */
export const doneTodos = { ...openTodos, first: 5, filter: { done: { eq: true } } } as const

export interface InitialTodos {
  readonly open: Row[]
  readonly done: ListPage<Row>
}

export function Todos({ initial }: { readonly initial?: InitialTodos }) {
  const db = useDb(createDb)
  const open = useLive(db.todo.live, openTodos, initial && { initial: initial.open })
  const done = useList(db.todo.page, doneTodos, initial && { initial: initial.done })
  const insert = useMutation(db.todo.insert)
  const update = useMutation(db.todo.update)

  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const title = String(new FormData(event.currentTarget).get('title')).trim()
    event.currentTarget.reset()
    if (title === '') return
    const todo = { id: crypto.randomUUID(), title, done: false }
    // Shown at once, and taken back if it fails.
    const shown = open.change((rows) => [todo, ...rows])
    void insert.mutate({ objects: [todo], select: { affectedCount: true } }, shown)
  }
  const set = (todo: Row, isDone: boolean) => {
    const without = (rows: Row[]) => rows.filter(({ id }) => id !== todo.id)
    const having = (rows: Row[]) => [{ ...todo, done: isDone }, ...without(rows)]
    const shown = [open.change(isDone ? without : having), done.change(isDone ? having : without)]
    const given = { set: { done: isDone }, filter: { id: { eq: todo.id } }, select: { affectedCount: true } } as const
    void update.mutate(given, ...shown)
  }

  const error = insert.error ?? update.error ?? open.error ?? done.error
  return (
    <main>
      <h1>Todos</h1>
      <form onSubmit={add}>
        <label>
          What is to do? <input name="title" maxLength={200} required />
        </label>
        <button>Add</button>
      </form>
      {error !== null && <p role="alert">{error.message}</p>}
      {open.lost !== null && <p role="status">The connection is lost; it is tried again.</p>}
      <Rows label="To do" rows={open.data} onSet={set} />
      <h2>Done</h2>
      <Rows label="Done" rows={done.data} onSet={set} />
      {done.hasMore && (
        <button disabled={done.loading} onClick={() => void done.loadMore()}>
          More
        </button>
      )}
    </main>
  )
}

interface RowsProps {
  readonly label: string
  readonly rows: Row[] | undefined
  readonly onSet: (todo: Row, isDone: boolean) => void
}

function Rows({ label, rows, onSet }: RowsProps) {
  if (rows === undefined) return <p>Loading …</p>
  if (rows.length === 0) return <p>Nothing here.</p>
  return (
    <ul aria-label={label}>
      {rows.map((todo) => (
        <li key={todo.id}>
          <label>
            <input type="checkbox" checked={todo.done} onChange={() => onSet(todo, !todo.done)} /> {todo.title}
          </label>
        </li>
      ))}
    </ul>
  )
}
