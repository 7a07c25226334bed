import type { Rule } from '../rule.js';

/** DEP0169: only reported, since `URL` isn't the same: it throws on relative addresses, and has no `auth`, `path` and `query`. */
export const urlParse: Rule = {
  apis: ['url.parse'],
  migrate: () => ({ left: 'url.parse: URL throws on relative addresses and has no auth, path and query' }),
};
