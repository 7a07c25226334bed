/** Keywords for arrays (JSON Schema 2020-12 core, sections 10.3.1 and 11.2; validation, section 6.4). */
import { canonicalJson } from '../json/canonical-json.js';
import { hasEnoughProblems, type Part, type Run } from './run.js';

export function checkArray(run: Run, part: Part<unknown[]>): void {
  const { value, schema } = part;
  const { minItems, maxItems } = schema as Record<string, number>;
  if (maxItems !== undefined && value.length > maxItems) run.fail(part, 'maxItems');
  if (minItems !== undefined && value.length < minItems) run.fail(part, 'minItems');
  checkItems(run, part);
  checkContains(run, part);
  if (schema['unevaluatedItems'] !== undefined) {
    for (const index of value.keys())
      if (!part.evaluated?.has(index)) visitItem(run, part, index, schema['unevaluatedItems']);
  }
  if (schema['uniqueItems'] === true) checkUnique(run, part);
}

function checkItems(run: Run, part: Part<unknown[]>): void {
  const { value, schema } = part;
  // Drafts before 2020-12 write `prefixItems` as a list in `items`, with `additionalItems`.
  const [listed, rest] = Array.isArray(schema['items'])
    ? (['items', 'additionalItems'] as const)
    : (['prefixItems', 'items'] as const);
  const prefix = (schema[listed] ?? []) as unknown[];
  const before = run.problems.length;
  for (let index = 0; index < value.length && !hasEnoughProblems(run, before); index += 1) {
    const item = index < prefix.length ? prefix[index] : schema[rest];
    if (item === undefined) return;
    visitItem(run, part, index, item);
  }
}

function visitItem(run: Run, part: Part<unknown[]>, index: number, item: unknown): void {
  part.evaluated?.add(index);
  run.visit(part.value[index], item, { up: part.path, key: index });
}

function checkContains(run: Run, part: Part<unknown[]>): void {
  const { value, schema, path, evaluated } = part;
  const { contains } = schema;
  if (contains === undefined) return;
  const { minContains = 1, maxContains = Infinity } = schema as Record<string, number>;
  const before = run.problems.length;
  let count = 0;
  for (const [index, item] of value.entries()) {
    if (!run.visit(item, contains, { up: path, key: index })) {
      if (hasEnoughProblems(run, before)) run.problems.length = before + 1;
      continue;
    }
    count += 1;
    evaluated?.add(index);
  }
  if (count >= minContains) run.problems.length = before;
  if (count < minContains) {
    if (schema['minContains'] === undefined)
      run.fail(part, 'contains', 'Array does not contain item matching schema.', before);
    else
      run.fail(
        part,
        'minContains',
        `Array must contain at least ${minContains} items matching schema. Only ${count} items were found.`,
      );
  } else if (count > maxContains) {
    run.fail(
      part,
      'maxContains',
      `Array may contain at most ${maxContains} items matching schema. ${count} items were found.`,
    );
  }
}

function checkUnique(run: Run, part: Part<unknown[]>): void {
  const seen = new Map<string, number>();
  for (const [index, item] of part.value.entries()) {
    const text = canonicalJson(item);
    const first = seen.get(text);
    if (first !== undefined)
      return run.fail(part, 'uniqueItems', `Duplicate items at indexes ${first} and ${index}.`);
    seen.set(text, index);
  }
}
