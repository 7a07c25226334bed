/** params of subscriptions/listen, with the filters of every face. Unknown fields are let through. */
import { z } from 'zod';

/** Most tasks or jobs that one subscription may name. */
const MAX_IDS = 100;
/** Most resources that one subscription may name, and the longest of their addresses, in characters. */
const MAX_RESOURCES = 100;
const MAX_URI = 4_000;

const ids = z.array(z.string().min(1).max(1000)).max(MAX_IDS);

export const listenParams = z.looseObject({
  notifications: z.looseObject({
    toolsListChanged: z.boolean().optional(),
    taskIds: ids.optional(),
    jobIds: ids.optional(),
    resourceSubscriptions: z.array(z.string().max(MAX_URI)).max(MAX_RESOURCES).optional(),
  }),
});
