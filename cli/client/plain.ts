/** Converts results of the operation tools to the command line's types, with the statuses of the record. */
import { isObject } from '../../operations/json/is-object.js';
import type { OperationStatus, StepRecord } from '../../operations/record.js';
import type { PartStatuses } from '../../operations/wire/meta-keys.js';
import type { Child, ListedOperation, OperationSteps } from './wire.js';

export interface OperationPage {
  operations: ListedOperation[];
  nextCursor?: string;
}

/** Fields with values of the user's own, which keep their keys. */
const OWN_VALUES = ['item', 'outputs'];

/** @param view `steps` of `operation_get` @param statuses of the children */
export function toOperationSteps(
  view: object,
  status: OperationStatus,
  statuses: PartStatuses[],
): OperationSteps {
  const { children, ...operation } = inCamelCase(view) as OperationSteps;
  const withStatuses = children?.map((child, index): Child => {
    const steps = (child.steps ?? []) as (StepRecord & { step?: string })[];
    return {
      ...child,
      status: statuses[index]!.status,
      steps: steps.map(({ step: _reference, ...step }, at) => ({
        ...step,
        status: statuses[index]!.steps[at]!,
      })),
    };
  });
  return { ...operation, status, ...(withStatuses && { children: withStatuses }) };
}

/** @param list output of `operation_list` @param statuses of the operations */
export function toOperationPage(list: object, statuses: OperationStatus[]): OperationPage {
  const { operations, nextCursor } = inCamelCase(list) as OperationPage;
  return {
    operations: operations.map((operation, index) => ({ ...operation, status: statuses[index]! })),
    nextCursor,
  };
}

/** Converts the names of fields, at any depth: `created_at` to `createdAt`. */
function inCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inCamelCase);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replaceAll(/_(.)/g, (_found, letter: string) => letter.toUpperCase()),
      OWN_VALUES.includes(name) ? inner : inCamelCase(inner),
    ]),
  );
}
