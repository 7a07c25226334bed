/** Helpers of subscription tests, for any transport. */
import { TASKS_AND_FORMS, type WireClient } from '../support/mcp.js';

export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/** Opens a subscription and returns its ID, its messages and a function that closes it. */
export async function subscribe(client: WireClient, notifications: object) {
  const fresh = client.with(TASKS_AND_FORMS);
  const subscriptionId = fresh.envelope('server/discover').id + 1;
  const stream = await fresh.listen(notifications);
  const { response, ended } = stream;
  const messages = stream.messages as Message[];
  return { subscriptionId, messages, response, ended, close: () => stream.close() };
}

export interface Message {
  id?: number | string;
  method?: string;
  params?: any;
  result?: any;
}

/** The notified tasks, as `tasks/get` returns them. */
export function tasksIn(messages: Message[]): any[] {
  return messages
    .filter(({ method }) => method === 'notifications/tasks')
    .map(({ params }) => plainTask(params));
}

/** A task without the fields of its message. */
export function plainTask(task: any): any {
  const { resultType: _resultType, _meta, ...rest } = task;
  const { [SUBSCRIPTION_ID]: _id, [SERVER_INFO]: _server, ...meta } = _meta ?? {};
  return { ...rest, _meta: meta };
}

/** Methods not allowed on a subscription's stream (specs: ext-tasks, "Task Status Notifications"). */
export const FORBIDDEN = ['notifications/progress', 'notifications/message'];
