/**
 * subscriptions/listen for any transport: the core filters, `taskIds` of the tasks extension and `jobIds` of two-stage returns
 * (specs: 2026-07-28 basic/patterns/subscriptions; ext-tasks, "Task Status Notifications").
 */
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
import { isKind } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import { associationOf } from '../sep-1391/render.js';
import { missingTasksCapability, renderDetailed, renderError } from './tasks/render.js';
import { declaredCapabilities, clientNameIn } from './tasks/schemas.js';
import { followJob } from '../two-stage/notifications.js';
import { linkTransform } from '../links/links-as-text.js';
import { experimentalCapabilitiesOf } from '../call/select-protocol.js';
import { forEachChange } from '../sessions/session-notifier.js';
import { canFollow, followResource } from '../links/resource-updates.js';
import { invalidParams } from '../call/protocol-error.js';
import type { Serving } from '../call/serving.js';
import { traceRequest } from '../call/trace-request.js';

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

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

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
    const { id, method, params } = request;
    const { transport, logger } = this.serving;
    const { principal } = engine;
    return traceRequest(
      { method, id, meta: params?._meta, tool: undefined, revision: PROTOCOL_VERSION, transport, principal },
      logger,
      () => this.#checked(request, engine),
    );
  }

  async #checked(request: JSONRPCRequest, engine: Guard): Promise<Serve> {
    assertRevision(request);
    const params = listenParams.safeParse(request.params);
    if (!params.success) {
      const { path, message } = params.error.issues[0]!;
      throw invalidParams(`params.${path.join('.')}: ${message}`);
    }
    const declared = request.params?._meta?.[CLIENT_CAPABILITIES_META_KEY];
    const capabilities = declaredCapabilities(declared);
    const { taskIds: wanted, jobIds: jobs } = params.data.notifications;
    if (wanted && !capabilities.tasks) throw missingTasksCapability();
    if (jobs && !experimentalCapabilitiesOf(declared).twoStage) throw missingTwoStage();
    if (this.#open.size >= MAX_SUBSCRIPTIONS)
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'Subscription limit reached');
    const resources = params.data.notifications.resourceSubscriptions;
    const followed: Followed = {
      ...(wanted ? { taskIds: await this.#known(engine, [...new Set(wanted)]) } : {}),
      ...(jobs ? { jobIds: await this.#known(engine, [...new Set(jobs)]) } : {}),
      ...(resources ? { resourceSubscriptions: await this.#readable(engine, [...new Set(resources)]) } : {}),
    };
    return (subscriber) => this.#serve(request, engine, followed, capabilities.elicitation, subscriber);
  }

  /** Tasks or jobs that exist for the subscriber. The acknowledgment omits the others. */
  async #known(engine: Guard, tokens: string[]): Promise<string[]> {
    const reads = await Promise.allSettled(tokens.map((token) => engine.read(token)));
    return tokens.filter((_token, index) => {
      const read = reads[index]!;
      if (read.status === 'fulfilled') return read.value.status !== 'expired';
      if (isKind(read.reason, 'not_found')) return false;
      throw renderError(read.reason);
    });
  }

  /** Resources that can be followed. The acknowledgment omits the others. */
  async #readable(engine: Guard, uris: string[]): Promise<string[]> {
    try {
      const can = await Promise.all(uris.map((uri) => canFollow(engine, uri)));
      return uris.filter((_uri, index) => can[index]);
    } catch (error) {
      throw renderError(error);
    }
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
    const withLinks = linkTransform(this.serving.resourceLinks, clientNameIn(request.params?._meta));
    const signal = AbortSignal.any([subscriber.signal, ended.signal]);
    const watch = (token: string) => engine.watch(token, { signal, progress: true });
    const notify = async (record: OperationRecord) => {
      const tool = engine.tools.get(record.tool);
      const task = renderDetailed(record, { elicitation, tool });
      await subscriber.send({
        jsonrpc: '2.0',
        method: 'notifications/tasks',
        params: withLinks({ ...task, _meta: { ...task._meta, ..._meta } }),
      });
    };
    const sendOfJob: Parameters<typeof followJob>[0]['send'] = ({ params, ...rest }) =>
      subscriber.send({ ...rest, params: withLinks({ ...params, _meta }) });
    const notifyOfResource = (uri: string) =>
      subscriber.send({
        jsonrpc: '2.0',
        method: 'notifications/resources/updated',
        params: { uri, _meta },
      });
    try {
      // toolsListChanged isn't supported: the server notices an edited pipeline only at the next tools/list.
      await subscriber.send({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { _meta, notifications },
      });
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
          forEachChange(followResource(engine, uri, signal), () => notifyOfResource(uri)),
        ),
      ]);
      const end = aborted(signal);
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
