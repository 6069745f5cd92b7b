/** `next` of a value as soon as it is there: at once unless it is promised. A promise for what is known costs every request. */
export function after<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
