/**
 * Loaded first: without `navigator` (Node 20), pg creates a Response to detect a worker of Cloudflare, which loads all
 * of fetch: 4 MB, and a twelfth of a server's start. Node 21 has `navigator`.
 */
if (!('navigator' in globalThis))
  Object.defineProperty(globalThis, 'navigator', {
    value: { userAgent: `Node.js/${process.versions.node.split('.')[0]}` },
    configurable: true,
    enumerable: false,
    writable: true,
  })
