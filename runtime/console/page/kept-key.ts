/** The key of a tab: kept over a reload, until the tab is closed or the key is forgotten (HTML, session storage). */

const name = 'catalograph.key'

export const keptKey = (): string | null => sessionStorage.getItem(name)

export const keepKey = (key: string): void => sessionStorage.setItem(name, key)

export const forgetKey = (): void => sessionStorage.removeItem(name)
