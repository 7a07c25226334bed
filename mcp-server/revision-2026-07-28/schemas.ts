/** params of subscriptions/listen, with the filters of all protocols. Unknown fields are ignored. */
import { z } from 'zod';

/** Maximum tasks, and maximum jobs, of one subscription. */
const MAX_IDS = 100;
/** Maximum resources of one subscription, and maximum length of their URIs, in characters. */
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
