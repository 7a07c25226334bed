/** Schemas of task requests. */
import { z } from 'zod';

const taskId = z.string().min(1).max(1000);

export const taskParams = z.looseObject({ taskId });

export const listParams = z.looseObject({ cursor: z.string().optional() }).default({});

/** The field that makes a call a task; ttl in milliseconds. */
export const taskField = z.looseObject({ ttl: z.number().min(0).optional() });

/** A plain call's arguments about waiting. For a task, use tasks/result. */
export const waitArguments = z.looseObject({
  wait: z.unknown().optional(),
  timeout: z.unknown().optional(),
});
