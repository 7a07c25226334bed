/** Values of the setting `maxCachedWorkflows`. */
import { Expected, type SettingType } from './types.js';

/** A worker's memory for each cached workflow, in MB, as measured in docs/performance.md. */
export const MB_PER_CACHED_WORKFLOW = 0.3;

const MOST_CACHED = 100_000;

/** A number of workflows, or the memory for them. */
export const cachedWorkflows: SettingType<number> = {
  placeholder: '<number|memory>',
  schema: { type: ['integer', 'string'], minimum: 2, maximum: MOST_CACHED },
  parse(given) {
    const [, amount, unit] =
      (typeof given === 'string' && /^(\d+(?:\.\d+)?) ?(MB|GB)$/i.exec(given.trim())) || [];
    const mb = Number(amount) * (unit?.toUpperCase() === 'GB' ? 1_000 : 1);
    // Rounded, so that 0.6 MB are two workflows in spite of binary fractions.
    const count =
      amount === undefined ? Number(given) : Math.floor(Number((mb / MB_PER_CACHED_WORKFLOW).toFixed(6)));
    if (Number.isInteger(count) && count >= 2 && count <= MOST_CACHED) return count;
    throw new Expected(
      `expected a number of workflows from 2 to ${MOST_CACHED}, or the memory for them, such as 200MB, at ${MB_PER_CACHED_WORKFLOW} MB each`,
    );
  },
};
