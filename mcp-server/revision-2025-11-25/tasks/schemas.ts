/** Schemas of task requests. */
import { z } from 'zod';

const taskId = z.string().min(1).max(1000);

/** params of tasks/get, tasks/result and tasks/cancel. */
export const taskParams = z.looseObject({ taskId });

/** params of tasks/list. */
export const listParams = z.looseObject({ cursor: z.string().optional() }).default({});

/** The field that makes a call a task; ttl in milliseconds. */
export const taskField = z.looseObject({ ttl: z.number().min(0).optional() });

/** Arguments of a plain call about waiting; a task is awaited with tasks/result. */
export const waitArguments = z.looseObject({
  wait: z.unknown().optional(),
  timeout: z.unknown().optional(),
});
