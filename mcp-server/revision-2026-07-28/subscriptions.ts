/**
 * subscriptions/listen for any transport: the core filters, `taskIds` of the tasks extension and `jobIds` of two-stage returns
 * (specs: 2026-07-28 basic/patterns/subscriptions; ext-tasks, "Task Status Notifications").
 */
import { once } from 'node:events';
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  SUBSCRIPTION_ID_META_KEY,
  UnsupportedProtocolVersionError,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Guard } from '../guard.js';
import type { OperationRecord } from '../../operations/record.js';
import { associationOf } from '../sep-1391/render.js';
import { missingTasksCapability, renderDetailed, renderError } from './tasks/render.js';
import { capabilitiesOf, clientNameOf } from './tasks/schemas.js';
import { followJob } from '../two-stage/notifications.js';
import { linkTransform } from '../links/links-as-text.js';
import { experimentalCapabilitiesOf } from '../call/select-protocol.js';
import { forEachChange, type Send } from '../sessions/session-notifier.js';
import { canFollow, followResource, isKept } from '../links/resource-updates.js';
import { parseParams } from '../call/params.js';
import { invalidParams } from '../call/protocol-error.js';
import type { Serving } from '../call/serving.js';
import { traceMessage } from '../revisions/methods.js';

export interface Subscriber {
  send(message: JSONRPCMessage): Promise<void>;
  signal: AbortSignal;
}

type Serve = (subscriber: Subscriber) => Promise<void>;

/** A subscription's filters, as acknowledged. */
interface Followed {
  taskIds?: string[];
  jobIds?: string[];
  resourceSubscriptions?: string[];
}

/** The only revision with subscriptions/listen. */
const PROTOCOL_VERSION = '2026-07-28';
const MAX_SUBSCRIPTIONS = 1024;
const MAX_IDS = 100;
/** Maximum resources per subscription, and maximum length of their URIs, in characters. */
const MAX_RESOURCES = 100;
const MAX_URI = 4_000;

const ids = z.array(z.string().min(1).max(1000)).max(MAX_IDS);

/** The filters of all protocols. Ignores unknown fields. */
const listenParams = z.looseObject({
  notifications: z.looseObject({
    toolsListChanged: z.boolean().optional(),
    taskIds: ids.optional(),
    jobIds: ids.optional(),
    resourceSubscriptions: z.array(z.string().max(MAX_URI)).max(MAX_RESOURCES).optional(),
  }),
});

/** The SDK doesn't check the requested revision over stdio, nor for this method over HTTP. */
function assertRevision({ params }: JSONRPCRequest): void {
  const requested = params?._meta?.[PROTOCOL_VERSION_META_KEY];
  if (requested === PROTOCOL_VERSION) return;
  if (typeof requested === 'string')
    throw new UnsupportedProtocolVersionError({ supported: [PROTOCOL_VERSION], requested });
  throw invalidParams(`params._meta.${PROTOCOL_VERSION_META_KEY}: missing`);
}

/** -32021 with the opt-in in `requiredCapabilities`. */
function missingTwoStage(): ProtocolError {
  return new MissingRequiredClientCapabilityError({
    requiredCapabilities: { experimental: { twoStage: {} } },
  });
}

export class Subscriptions {
  readonly #open = new Set<AbortController>();
  #isClosed = false;

  constructor(private readonly serving: Serving) {}

  /**
   * Checks a request and opens its subscription, which ends the request's span.
   *
   * @param engine the subscriber's
   * @returns serves the subscription until the client or the server ends it
   * @throws ProtocolError before anything is sent: -32602, -32603, -32021 for taskIds without the extension and jobIds without the
   *   opt-in, -32022 for another revision
   */
  open(request: JSONRPCRequest, engine: Guard): Promise<Serve> {
    const caller = { engine, serving: this.serving, revision: PROTOCOL_VERSION };
    return traceMessage(caller, request, () => this.#checked(request, engine));
  }

  async #checked(request: JSONRPCRequest, engine: Guard): Promise<Serve> {
    assertRevision(request);
    const { notifications } = parseParams(listenParams, request.params);
    const declared = request.params?._meta?.[CLIENT_CAPABILITIES_META_KEY];
    const capabilities = capabilitiesOf(request.params?._meta);
    const { taskIds: wanted, jobIds: jobs, resourceSubscriptions: resources } = notifications;
    if (wanted && !capabilities.tasks) throw missingTasksCapability();
    if (jobs && !experimentalCapabilitiesOf(declared).twoStage) throw missingTwoStage();
    if (this.#open.size >= MAX_SUBSCRIPTIONS)
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'Subscription limit reached');
    const known = (tokens: string[]) => kept(tokens, (token) => isKept(engine, token));
    const followed: Followed = {
      ...(wanted ? { taskIds: await known(wanted) } : {}),
      ...(jobs ? { jobIds: await known(jobs) } : {}),
      ...(resources ? { resourceSubscriptions: await kept(resources, (uri) => canFollow(engine, uri)) } : {}),
    };
    return (subscriber) => this.#serve(request, engine, followed, capabilities.elicitation, subscriber);
  }

  async #serve(
    request: JSONRPCRequest,
    engine: Guard,
    notifications: Followed,
    elicitation: boolean,
    subscriber: Subscriber,
  ): Promise<void> {
    if (subscriber.signal.aborted) return;
    const ended = new AbortController();
    if (this.#isClosed) ended.abort();
    this.#open.add(ended);
    const _meta = { [SUBSCRIPTION_ID_META_KEY]: request.id };
    const withLinks = linkTransform(this.serving.resourceLinks, clientNameOf(request.params?._meta));
    const signal = AbortSignal.any([subscriber.signal, ended.signal]);
    const send = (method: string, params: Record<string, unknown>) =>
      subscriber.send({ jsonrpc: '2.0', method, params });
    const watch = (token: string) => engine.watch(token, { signal, progress: true });
    const notify = async (record: OperationRecord) => {
      const task = renderDetailed(record, { elicitation, tool: engine.tools.get(record.tool) });
      await send('notifications/tasks', withLinks({ ...task, _meta: { ...task._meta, ..._meta } }));
    };
    const sendOfJob: Send = ({ method, params }) => send(method, withLinks({ ...params, _meta }));
    try {
      // toolsListChanged isn't supported: the server notices an edited pipeline only at the next tools/list.
      await send('notifications/subscriptions/acknowledged', { _meta, notifications });
      const { taskIds = [], jobIds = [], resourceSubscriptions = [] } = notifications;
      const followed = Promise.all([
        ...taskIds.map((taskId) => forEachChange(watch(taskId), notify)),
        // Notifies at once about a job that has ended, so a client that reconnects has missed nothing.
        ...jobIds.map((jobId) => {
          const follower = followJob({ engine, send: sendOfJob, fields: associationOf });
          return forEachChange(watch(jobId), (record) => follower.notify(record)).finally(() =>
            follower.close?.(),
          );
        }),
        ...resourceSubscriptions.map((uri) =>
          forEachChange(followResource(engine, uri, signal), () =>
            send('notifications/resources/updated', { uri, _meta }),
          ),
        ),
      ]);
      const end = signal.aborted ? undefined : once(signal, 'abort');
      // Doesn't wait for a pending read, which takes long while Temporal is down.
      await Promise.race([end, followed.then(() => end)]);
      if (!subscriber.signal.aborted) {
        await subscriber.send({ jsonrpc: '2.0', id: request.id, result: { resultType: 'complete', _meta } });
      }
    } finally {
      ended.abort();
      this.#open.delete(ended);
    }
  }

  /** Ends all subscriptions with a response. */
  close(): void {
    this.#isClosed = true;
    for (const one of this.#open) one.abort();
  }
}

/** The tokens or URIs that exist for the subscriber. The acknowledgment omits the others. */
async function kept(addresses: string[], exists: (address: string) => Promise<boolean>): Promise<string[]> {
  const unique = [...new Set(addresses)];
  try {
    const found = await Promise.all(unique.map(exists));
    return unique.filter((_address, index) => found[index]);
  } catch (error) {
    throw renderError(error);
  }
}
