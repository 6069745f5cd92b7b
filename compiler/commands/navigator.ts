/**
 * Loaded before all else: where there is no `navigator` (Node 20), pg finds out whether it runs in a worker of Cloudflare by
 * making a Response, which loads all of fetch: 4 MB, and a twelfth of what a server does until it is ready. Node 21 has one.
 */
if (!('navigator' in globalThis))
  Object.defineProperty(globalThis, 'navigator', {
    value: { userAgent: `Node.js/${process.versions.node.split('.')[0]}` },
    configurable: true,
    enumerable: false,
    writable: true,
  })
