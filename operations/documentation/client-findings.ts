/** Arguments that make some clients or model APIs refuse all tools of a server. `longhaul check` reports them; the tool is still served. */
import type { JsonSchema } from '../schema.js';

export interface ClientFinding {
  /** Path in the arguments' schema: keywords and names. */
  path: string[];
  message: string;
}

/** Keywords that model APIs refuse at the top of a schema. */
export const REFUSED_AT_TOP: ReadonlySet<string> = new Set(
  'oneOf anyOf allOf not enum if then else'.split(' '),
);

const ACCEPTED_NAME = /^[A-Za-z0-9_-]{1,64}$/;

const CONSEQUENCE = 'makes some clients and model APIs refuse all tools of the server';

export function clientFindings(inputSchema: JsonSchema): ClientFinding[] {
  const combined = Object.keys(inputSchema)
    .filter((keyword) => REFUSED_AT_TOP.has(keyword))
    .map((keyword) => ({
      path: [keyword],
      message: `${CONSEQUENCE}; expected only properties at the top, with combinations inside them`,
    }));
  const named = Object.keys((inputSchema['properties'] ?? {}) as JsonSchema)
    .filter((name) => !ACCEPTED_NAME.test(name))
    .map((name) => ({
      path: ['properties', name],
      message: `${CONSEQUENCE}; expected a name of letters, digits, _ and -, at most 64 characters`,
    }));
  return [...combined, ...named];
}
