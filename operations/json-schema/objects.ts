/** Keywords for objects (JSON Schema 2020-12 core, sections 10.3.2 and 11.3; validation, section 6.5). */
import { hasEnoughProblems, type Part, type Run } from './run.js';

type JsonObject = Record<string, unknown>;
type SchemaMap = Record<string, unknown>;

/** Whether a value has a member. As in JSON, undefined is missing. */
export function hasMember(value: JsonObject, key: string): boolean {
  return Object.hasOwn(value, key) && value[key] !== undefined;
}

function namesOf(value: JsonObject): string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined);
}

export function checkObject(run: Run, part: Part<JsonObject>): void {
  const { value, schema } = part;
  const { minProperties, maxProperties } = schema as Record<string, number>;
  checkRequired(run, part);
  const count = namesOf(value).length;
  if (minProperties !== undefined && count < minProperties)
    run.fail(part, 'minProperties', `Instance does not have at least ${minProperties} properties.`);
  if (maxProperties !== undefined && count > maxProperties)
    run.fail(part, 'maxProperties', `Instance has more than ${maxProperties} properties.`);
  checkNames(run, part);
  checkDependencies(run, part);
  checkValues(run, part);
}

function checkRequired(run: Run, part: Part<JsonObject>): void {
  for (const key of (part.schema['required'] ?? []) as string[])
    if (!hasMember(part.value, key)) run.fail(part, 'required');
}

function checkNames(run: Run, part: Part<JsonObject>): void {
  const { value, schema, path } = part;
  if (schema['propertyNames'] === undefined) return;
  const start = run.problems.length;
  for (const key of namesOf(value)) {
    if (hasEnoughProblems(run, start)) return;
    const before = run.problems.length;
    if (!run.visit(key, schema['propertyNames'], { up: path, key }))
      run.fail(part, 'propertyNames', `Property name "${key}" does not match schema.`, before);
  }
}

function checkDependencies(run: Run, part: Part<JsonObject>): void {
  const { value, schema, path, evaluated } = part;
  for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    for (const [key, dependency] of Object.entries((schema[keyword] ?? {}) as SchemaMap)) {
      if (!hasMember(value, key)) continue;
      const before = run.problems.length;
      if (!Array.isArray(dependency)) {
        if (!run.visit(value, dependency, path, evaluated))
          run.fail(part, keyword, `Instance has "${key}" but does not match dependent schema.`, before);
        continue;
      }
      for (const other of dependency as string[])
        if (!hasMember(value, other))
          run.fail(part, keyword, `Instance has "${key}" but does not have "${other}".`);
    }
  }
}

function checkValues(run: Run, part: Part<JsonObject>): void {
  const { value, schema, path, evaluated } = part;
  const done = new Set<string>();
  const start = run.problems.length;
  const visit = (key: string, property: unknown) => {
    done.add(key);
    evaluated?.add(key);
    if (!hasEnoughProblems(run, start)) run.visit(value[key], property, { up: path, key });
  };
  for (const [key, property] of Object.entries((schema['properties'] ?? {}) as SchemaMap))
    if (hasMember(value, key)) visit(key, property);
  for (const [pattern, property] of Object.entries((schema['patternProperties'] ?? {}) as SchemaMap)) {
    const compiled = run.pattern(pattern);
    for (const key of namesOf(value)) if (compiled.test(key)) visit(key, property);
  }
  const visitOthers = (others: unknown, known: ReadonlySet<unknown> | undefined) => {
    if (others === undefined) return;
    for (const key of namesOf(value)) if (!known?.has(key)) visit(key, others);
  };
  visitOthers(schema['additionalProperties'], done);
  visitOthers(schema['unevaluatedProperties'], evaluated);
}
