/** Schemas of keys that both pipelines and tools over external workflows have. */
import { z } from 'zod';
import { TOOL_NAME } from '../names.js';

const MAX_MINUTES = 365 * 24 * 60;

export const text = (expected: string) => z.string({ error: expected }).min(1, expected);

export const flag = z.boolean({ error: 'expected true or false' });

export const minutesUpTo = (most: number) =>
  z
    .number({ error: 'expected minutes above 0' })
    .gt(0, 'expected minutes above 0')
    .max(most, `expected at most ${most} minutes`);
export const minutes = minutesUpTo(MAX_MINUTES);

export const toolName = z
  .string({ error: 'expected the name of a tool' })
  .regex(
    TOOL_NAME,
    'expected the name of a tool: a letter, then letters, digits or _, at most 64 characters, and not operation_ at the beginning',
  )
  .optional()
  .meta({ description: "Name of the tool. Default: the file's name, with _ for each -." });
