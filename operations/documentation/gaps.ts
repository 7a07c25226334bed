/** Gaps in a tool's documentation, reported by `longhaul lint`. */
import type { JsonSchema } from '../schema.js';
import { recursiveReferences } from '../schema-references.js';
import type { Gap, ToolExample } from './items.js';
import { parametersOf } from './parameters.js';

/** Documentation fields that authors may leave out of a definition in code. */
interface AuthorFields {
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  example: ToolExample | undefined;
  cleanup?: string;
  deadlineSeconds?: number;
  retryableErrors?: string[];
}

export function documentationGaps({
  inputSchema,
  outputSchema,
  example,
  cleanup,
  deadlineSeconds,
  retryableErrors,
}: AuthorFields): Gap[] {
  const gaps: (Gap | false)[] = [
    !cleanup?.trim() && {
      item: 'cancel',
      field: 'cleanup',
      expected: 'what cancel and time-out clean up and what stays, in a sentence',
    },
    deadlineSeconds === undefined && {
      item: 'timeout',
      field: 'deadlineSeconds',
      expected: 'the maximum duration of the work, in seconds',
    },
    retryableErrors === undefined && {
      item: 'errors',
      field: 'retryableErrors',
      expected: 'types of failures after which a new call may succeed; [] if there are none',
    },
  ];
  return [
    ...schemaGaps(inputSchema, example, 'input'),
    ...recursionGaps(inputSchema, 'input', 'parameters'),
    ...recursionGaps(outputSchema, 'output', 'operation'),
    ...gaps.filter((gap) => gap !== false),
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

/**
 * Gaps in the documentation of the arguments.
 *
 * @param field name of the arguments' schema in the definition
 */
export function schemaGaps(inputSchema: JsonSchema, example: ToolExample | undefined, field: string): Gap[] {
  const untyped = parametersOf(inputSchema).filter(({ type }) => type === undefined);
  return [
    ...untyped.map(({ name }): Gap => ({
      item: 'parameters',
      field: `${field}.${name}`,
      expected: 'a type',
    })),
    ...(example
      ? []
      : [
          {
            item: 'example',
            field: field === 'input' ? 'example' : field,
            expected: `arguments for an example, which the schema alone doesn't give: ${field === 'input' ? '{ input: {...} }' : '`examples` where a `pattern` or the like bounds them'}`,
          } as const,
        ]),
  ];
}
