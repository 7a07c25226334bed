/** Gaps in a tool's documentation, reported by `longhaul lint`, and arguments that some clients can't take. */
import type { JsonSchema } from '../tool/schema.js';
import { recursiveReferences } from '../tool/schema-references.js';
import type { Gap, ToolExample } from './items.js';
import { parametersOf } from './parameters.js';

/** Documentation that authors may leave out of a definition in code. */
interface AuthorFields {
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  example: ToolExample | undefined;
  cleanup?: string;
  deadlineSeconds?: number;
  retryableErrors?: string[];
}

export function documentationGaps(fields: AuthorFields): Gap[] {
  const { inputSchema, outputSchema, example, cleanup, deadlineSeconds, retryableErrors } = fields;
  const missing = (value: unknown, gap: Gap): Gap[] => (value === undefined || value === '' ? [gap] : []);
  return [
    ...schemaGaps(inputSchema, example, 'input'),
    ...recursionGaps(inputSchema, 'input', 'parameters'),
    ...recursionGaps(outputSchema, 'output', 'operation'),
    ...missing(cleanup?.trim(), {
      item: 'cancel',
      field: 'cleanup',
      expected: 'what cancel and time-out clean up and what stays, in a sentence',
    }),
    ...missing(deadlineSeconds, {
      item: 'timeout',
      field: 'deadlineSeconds',
      expected: 'the maximum duration of the work, in seconds',
    }),
    ...missing(retryableErrors, {
      item: 'errors',
      field: 'retryableErrors',
      expected: 'types of failures after which a new call may succeed; [] if there are none',
    }),
  ];
}

/** Recursive schemas are listed unchanged, but some clients drop the tool, and generators its types. */
function recursionGaps(schema: JsonSchema | undefined, field: string, item: Gap['item']): Gap[] {
  return recursiveReferences(schema ?? {}).map((pointer) => ({
    item,
    field: `${field}${pointer}`,
    got: 'recursive, so some clients drop the tool',
    expected:
      'no reference to a schema that it is part of: write the levels out, and end in a schema that allows anything',
  }));
}

/** Gaps in the documentation of the arguments. @param field name of the arguments' schema in the definition */
export function schemaGaps(inputSchema: JsonSchema, example: ToolExample | undefined, field: string): Gap[] {
  const isInput = field === 'input';
  const gaps = parametersOf(inputSchema)
    .filter(({ type }) => type === undefined)
    .map(({ name }): Gap => ({ item: 'parameters', field: `${field}.${name}`, expected: 'a type' }));
  if (example) return gaps;
  const how = isInput ? '{ input: {...} }' : '`examples` where a `pattern` or the like bounds them';
  const expected = `arguments for an example, which the schema alone doesn't give: ${how}`;
  return [...gaps, { item: 'example', field: isInput ? 'example' : field, expected }];
}

interface ClientFinding {
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

/**
 * Arguments that make some clients or model APIs refuse all tools of a server. `longhaul check` reports them; the tool is still served.
 */
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
