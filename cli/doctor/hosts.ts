/** Lists a task queue's hosts for operators: which are present, and which open pipeline jobs have their workspace there. */
import type { Client } from '@temporalio/client';
import { LonghaulError } from '../../operations/errors.js';
import { isOpenPart, type ChildRecord } from '../../operations/record.js';
import { START_MEMO, OPERATION_QUERY, tokenOf, type StartMemo } from '../../operations/wire/index.js';
import { isUnreadable } from '../../operations/wire/unreadable.js';
import { PIPELINE_WORKFLOW } from '../../pipelines/pipeline.js';
import { DROP_HOST_SIGNAL, hostTaskQueue, placementTaskQueue } from '../../pipelines/run.js';
import { hostsIn, isPolling, POLL_INTERVAL_MS, pollersOf } from '../../platform/temporal/host-presence.js';
import { listWorkflows } from '../../platform/temporal/list-workflows.js';
import { readMemo } from '../../platform/temporal/memo.js';
import { quote } from '../../platform/temporal/visibility-query.js';

/** Deadline of a call: a query may wait for a worker to replay. */
const CALL_LIMIT_MS = 10_000;
const BATCH = 10;

/** A job with its workspace on a host. */
export interface HostedJob {
  /** Token of the operation. */
  token: string;
  workflowId: string;
  tool: string;
  /** Job name: `build`, `test[3]`. */
  job: string;
  status: ChildRecord['status'];
  /** The step that runs, waits for its host or asked a question; undefined between steps. */
  step?: HostedStep;
}

export interface HostedStep {
  name: string;
  /** When it became due, ISO 8601, UTC; undefined while its approval is open. */
  startedAt?: string;
}

export interface Host {
  name: string;
  /** When one of its workers last polled, ISO 8601; undefined after five minutes. */
  lastSeenAt?: string;
  /** Whether one of its workers is polling. */
  isThere: boolean;
  jobs: HostedJob[];
}

export interface HostList {
  hosts: Host[];
  /** Tokens of open pipelines that couldn't be read, because no worker answered the query. */
  unread: string[];
}

/** Lists hosts that polled within five minutes or have jobs of open pipelines. @throws gRPC errors of Temporal */
export async function listHosts(client: Client, taskQueue: string): Promise<HostList> {
  const { jobs, unread } = await hostedJobs(client, taskQueue);
  const present = hostsIn(await pollersOf(client, placementTaskQueue(taskQueue)));
  const names = new Set([...jobs.map(({ host }) => host), ...present]);
  const hosts = await Promise.all(
    [...names].sort().map(async (name): Promise<Host> => {
      const [seen] = await pollersOf(client, hostTaskQueue(taskQueue, name));
      return {
        name,
        ...(seen ? { lastSeenAt: seen.polledAt.toISOString() } : {}),
        isThere: seen !== undefined && isPolling(seen),
        jobs: jobs.filter(({ host }) => host === name).map(({ host: _host, ...job }) => job),
      };
    }),
  );
  return { hosts, unread };
}

/**
 * Drops a host: its jobs start again on other hosts, or ask a person.
 *
 * @returns its jobs, and the tokens of unread pipelines that may have more there
 * @throws LonghaulError `not_found` for an unknown host, `wrong_state` for a present one
 */
export async function dropHost(
  client: Client,
  taskQueue: string,
  name: string,
): Promise<{ jobs: HostedJob[]; unread: string[] }> {
  const { hosts, unread } = await listHosts(client, taskQueue);
  const host = hosts.find((one) => one.name === name);
  if (!host) {
    const known = hosts.map((one) => one.name).join(', ') || 'none';
    throw new LonghaulError('not_found', `there is no host ${JSON.stringify(name)}; known are ${known}`);
  }
  if (host.isThere)
    throw new LonghaulError(
      'wrong_state',
      `host ${name} is present: one of its workers polled at ${host.lastSeenAt}. Stop its workers, and try again after ${POLL_INTERVAL_MS / 1000} seconds`,
    );
  for (const workflowId of new Set(host.jobs.map((job) => job.workflowId)))
    await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
      client.workflow.getHandle(workflowId).signal(DROP_HOST_SIGNAL, name),
    );
  return { jobs: host.jobs, unread };
}

async function hostedJobs(
  client: Client,
  taskQueue: string,
): Promise<{ jobs: (HostedJob & { host: string })[]; unread: string[] }> {
  const query = `WorkflowType = ${quote(PIPELINE_WORKFLOW)} AND ExecutionStatus = 'Running' AND TaskQueue = ${quote(taskQueue)}`;
  const open: { workflowId: string; startMemo: StartMemo }[] = [];
  const unread: string[] = [];
  for await (const { workflowId, info } of listWorkflows(client, query)) {
    const { loadedDataConverter } = client.options;
    const memo = await readMemo(loadedDataConverter, info.memo?.fields, [START_MEMO]);
    const startMemo = memo[START_MEMO] as StartMemo | undefined;
    if (isUnreadable(startMemo)) unread.push(workflowId);
    else if (startMemo) open.push({ workflowId, startMemo });
  }
  const jobs: (HostedJob & { host: string })[] = [];
  for (let at = 0; at < open.length; at += BATCH) {
    const batch = open.slice(at, at + BATCH).map(async ({ workflowId, startMemo: { tool, principal } }) => {
      const token = tokenOf(principal, workflowId);
      const children = await childrenOf(client, workflowId);
      if (!children) unread.push(token);
      for (const child of children ?? []) {
        const { name, status, host } = child;
        // A pending job that waits for a concurrency slot may already have its workspace.
        if (host === undefined || !isOpenPart(status)) continue;
        jobs.push({ ...{ token, workflowId, tool, job: name, status, host }, ...currentStep(child) });
      }
    });
    await Promise.all(batch);
  }
  return { jobs, unread };
}

function currentStep({ steps }: ChildRecord): { step?: HostedStep } {
  const step = steps.find(({ status }) => isOpenPart(status) && status !== 'pending');
  return step ? { step: { name: step.name, startedAt: step.startedAt } } : {};
}

/** Undefined when no worker answers, or the pipeline has closed. */
async function childrenOf(client: Client, workflowId: string): Promise<ChildRecord[] | undefined> {
  try {
    const state = await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
      client.workflow.getHandle(workflowId).query(OPERATION_QUERY),
    );
    const children = state.children ?? [];
    const pages = await Promise.all(
      children.map(async ({ status, page }) =>
        page?.workflowId !== undefined && isOpenPart(status) ? childrenOf(client, page.workflowId) : [],
      ),
    );
    return pages.includes(undefined) ? undefined : [...children, ...pages.flatMap((page) => page ?? [])];
  } catch {
    return undefined;
  }
}
