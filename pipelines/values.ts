/** Access to data of unknown form. */
import { isObject } from '../operations/json/is-object.js';

export function at(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

export function itemsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The texts in a list, with their positions. */
export function textsOf(value: unknown): [number, string][] {
  return itemsOf(value).flatMap((item, index) => (typeof item === 'string' ? [[index, item]] : []));
}

/** A step of a pipeline's file, with its job and its place. */
interface PlacedStep {
  jobName: string;
  job: unknown;
  step: unknown;
  path: (string | number)[];
}

export function stepsIn(file: unknown): PlacedStep[] {
  return entriesOf(at(file, 'jobs')).flatMap(([jobName, job]) =>
    itemsOf(at(job, 'steps')).map((step, index) => ({
      ...{ jobName, job, step },
      path: ['jobs', jobName, 'steps', index],
    })),
  );
}
