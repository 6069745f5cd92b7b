import MiniSearch from './minisearch.js'

// The search of the sidebar. The texts are loaded when it is first used; nothing leaves this origin.

const field = document.getElementById('search')
const list = document.getElementById('found')
const { up = '' } = field.dataset
const most = 12

let loading = null
const load = () =>
  (loading ??= fetch(`${up}search.json`)
    .then((answer) => answer.json())
    .then(indexed))

function indexed(parts) {
  const index = new MiniSearch({
    fields: ['page', 'title', 'text'],
    storeFields: ['page', 'title'],
    // Names such as DB_POOL_SIZE, and their words.
    tokenize: (text) =>
      [...text.split(/[^\p{L}\p{N}_]+/u), ...text.split(/[^\p{L}\p{N}]+/u)].filter((word) => word !== ''),
    searchOptions: { prefix: true, fuzzy: 0.15, boost: { page: 2, title: 3 }, combineWith: 'AND' },
  })
  index.addAll(parts)
  return index
}

async function show() {
  const asked = field.value.trim()
  const found = asked === '' ? [] : (await load()).search(asked).slice(0, most)
  // A later key was pressed while the texts were loading.
  if (asked !== field.value.trim()) return
  list.replaceChildren(...(asked !== '' && found.length === 0 ? [row('Nothing was found.')] : found.map(result)))
}

function result({ id, page, title }) {
  const link = document.createElement('a')
  link.href = up + id
  link.textContent = page === title ? page : `${page}: ${title}`
  return row(link)
}

function row(content) {
  const item = document.createElement('li')
  item.append(content)
  return item
}

field.addEventListener('input', () => void show())
