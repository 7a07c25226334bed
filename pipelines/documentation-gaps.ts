/** Reports gaps in a pipeline's documentation: it runs anyway, but its callers have to guess. */
import { exampleOf } from '../operations/documentation/example.js';
import { schemaGaps } from '../operations/documentation/gaps.js';
import type { ToolExample } from '../operations/documentation/items.js';
import type { JsonSchema } from '../operations/schema.js';
import type { Pipeline } from './pipeline.js';
import type { KeyPath } from './problems.js';
import { at } from './values.js';

/** Optional documentation keys -> expected content. */
const KEYS = {
  description: 'what the tool does, in a sentence or two',
  'timeout-minutes': 'the maximum duration of the pipeline, in minutes',
  'estimate-minutes': 'how long it usually takes, in minutes',
};

/** @param file the file's raw data */
export function reportGaps(
  file: unknown,
  { inputs }: Pipeline,
  report: (path: KeyPath, message: string) => void,
): void {
  for (const [key, expected] of Object.entries(KEYS))
    if (at(file, key) === undefined) report([key], `missing; expected ${expected}`);
  const input = exampleOf(inputs) as ToolExample['input'] | undefined;
  for (const { field, expected } of schemaGaps(inputs, input && { input }, 'inputs')) {
    const [, name] = field.split('inputs.');
    report(name === undefined ? ['inputs'] : ['inputs', 'properties', name], `missing; expected ${expected}`);
  }
}

/** Example with all outputs of a pipeline, for the documentation: the schema requires none. */
export function outputExample(schema: JsonSchema): unknown {
  return exampleOf({ ...schema, required: Object.keys(schema['properties'] as object) });
}
