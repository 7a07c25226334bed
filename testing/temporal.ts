/** The Temporal of a test environment: a named one, a running `longhaul up`, or an embedded one. */
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import type { Settings } from '../platform/settings/index.js';
import { dataConverterOf } from '../platform/temporal/data-converter.js';
import { anyFreePort } from '../platform/http/free-address.js';
import { openStorage } from '../platform/storage/index.js';
import { usesExternalTemporal, readStackState } from '../platform/temporal/address.js';
import { temporalConnectConfig } from '../platform/temporal/connect-config.js';
import { listWorkflows } from '../platform/temporal/list-workflows.js';
import { openRuns, quote } from '../platform/temporal/visibility-query.js';
import { messageOf, type Say } from '../stack/stack-error.js';
import {
  startEmbeddedTemporal,
  withoutTemporalVariables,
  type EmbeddedTemporal,
} from '../stack/temporal/server.js';
import { TestEnvironmentError } from './errors.js';

const HOST = '127.0.0.1';
const CONNECT_LIMIT_MS = 5_000;
/** Attempts to start Temporal when another process takes its port first. */
const ATTEMPTS = 3;
/** Limit for finding closed workflows to delete, in milliseconds: lists lag behind. */
const CLEAN_UP_LIMIT_MS = 10_000;

export interface TestTemporal {
  client: Client;
  address: string;
  /** Variables that name this Temporal to the environment's processes. */
  environment: NodeJS.ProcessEnv;
  /** Terminates open workflows. On a shared Temporal it also deletes their histories, which would count in estimates and lists. */
  cleanUp(taskQueue: string, tokens: Iterable<string>): Promise<void>;
  /** Closes the connection, and stops an embedded Temporal. */
  close(): Promise<void>;
}

/**
 * @param userHome home whose running stack is used when no Temporal is named
 * @param named overrides the environment's variables; `embedded` always starts one
 * @throws TestEnvironmentError when the named Temporal doesn't answer, or none can be started
 */
export async function connectTestTemporal(
  settings: Settings,
  userHome: string,
  named: { address: string; namespace?: string } | 'embedded' | undefined,
  say: Say,
): Promise<TestTemporal> {
  const others = withoutTemporalVariables();
  if (named !== 'embedded' && (named || usesExternalTemporal())) {
    const environment = named
      ? {
          ...others,
          TEMPORAL_ADDRESS: named.address,
          ...(named.namespace ? { TEMPORAL_NAMESPACE: named.namespace } : {}),
        }
      : process.env;
    return connect(settings, environment).catch((error: unknown) => {
      const address = environment['TEMPORAL_ADDRESS'] ?? `profile ${environment['TEMPORAL_PROFILE']}`;
      const how = named ? 'leave out the option temporal' : 'unset TEMPORAL_ADDRESS and TEMPORAL_PROFILE';
      throw new TestEnvironmentError(
        `no Temporal answers at ${address}: ${messageOf(error)}. Start it, or ${how} to have one started`,
      );
    });
  }
  const { temporalAddress } = readStackState(userHome);
  if (named !== 'embedded' && temporalAddress) {
    // A killed stack leaves its address behind.
    const running = await connect(settings, { ...others, TEMPORAL_ADDRESS: temporalAddress }).catch(
      () => undefined,
    );
    if (running) return running;
  }
  const embedded = await startEmbedded(settings, say);
  try {
    return await connect(settings, { ...others, TEMPORAL_ADDRESS: embedded.address }, embedded);
  } catch (error) {
    await embedded.stop();
    throw error;
  }
}

async function startEmbedded(settings: Settings, say: Say): Promise<EmbeddedTemporal> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startEmbeddedTemporal(settings, say, { port: await anyFreePort(HOST) });
    } catch (error) {
      if (attempt === ATTEMPTS)
        throw new TestEnvironmentError(`no Temporal can be started: ${messageOf(error)}`, { cause: error });
    }
  }
}

async function connect(
  settings: Settings,
  environment: NodeJS.ProcessEnv,
  embedded?: EmbeddedTemporal,
): Promise<TestTemporal> {
  const { connectionOptions, namespace = 'default' } = temporalConnectConfig(settings.home, environment)!;
  const connection = await Connection.connect({ ...connectionOptions, connectTimeout: CONNECT_LIMIT_MS });
  const dataConverter = dataConverterOf(openStorage(settings));
  const client = new Client({ connection, namespace, dataConverter });
  return {
    client,
    address: connectionOptions.address ?? '',
    environment,
    async cleanUp(taskQueue, tokens) {
      await Promise.all([...tokens].map((token) => terminate(client, token)));
      const open = await openRuns(client);
      await eachOf(client, `TaskQueue = ${quote(taskQueue)} AND ${open}`, (workflowId) =>
        terminate(client, workflowId),
      );
      if (!embedded)
        await eachOf(client, `TaskQueue = ${quote(taskQueue)}`, (workflowId, runId) =>
          client.workflowService.deleteWorkflowExecution({
            namespace,
            workflowExecution: { workflowId, runId },
          }),
        );
    },
    async close() {
      await connection.close();
      await embedded?.stop();
    },
  };
}

async function terminate(client: Client, workflowId: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).terminate('the test environment is closed');
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** Calls `act` for each run until the list is empty. Lists lag, so it may see a run more than once. */
async function eachOf(
  client: Client,
  query: string,
  act: (workflowId: string, runId: string) => Promise<unknown>,
): Promise<void> {
  const deadline = performance.now() + CLEAN_UP_LIMIT_MS;
  for (;;) {
    let count = 0;
    for await (const { workflowId, runId } of listWorkflows(client, query)) {
      count += 1;
      await act(workflowId, runId).catch((error: unknown) => {
        if ((error as { code?: number }).code !== NOT_FOUND) throw error;
      });
    }
    if (count === 0 || performance.now() > deadline) return;
    await new Promise((settle) => setTimeout(settle, 100));
  }
}

/** gRPC status code. */
const NOT_FOUND = 5;
