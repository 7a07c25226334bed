/** The hosts of a task queue, for operators: which are there, and which jobs of open pipelines have their workspace where. */
import type { Client } from '@temporalio/client';
import { LonghaulError } from '../operations/errors.js';
import type { ChildRecord } from '../operations/record.js';
import { START_MEMO, OPERATION_QUERY, tokenOf, type StartMemo } from '../operations/wire.js';
import { PIPELINE_WORKFLOW } from '../pipelines/pipeline.js';
import { DROP_HOST_SIGNAL } from '../pipelines/run.js';
import { hostInIdentity, lastSeen, POLL_INTERVAL_MS, pollersOf } from './host-presence.js';
import { quote } from './visibility-query.js';

/** How long one call to Temporal may take, in milliseconds; a query may wait for a worker to replay. */
const CALL_LIMIT_MS = 10_000;
/** Pipelines that are asked at a time. */
const BATCH = 10;

/** A job whose workspace a host has. */
export interface HostedJob {
  /** Of the operation. */
  token: string;
  workflowId: string;
  tool: string;
  /** Name of the job: `build`, `test[3]`. */
  job: string;
  status: ChildRecord['status'];
}

export interface Host {
  /** Its ID. */
  name: string;
  /** When a worker of it last asked for work, ISO 8601; undefined when that is over five minutes ago. */
  lastSeenAt?: string;
  /** Does a worker of it ask for work? */
  isThere: boolean;
  jobs: HostedJob[];
}

export interface HostList {
  hosts: Host[];
  /** Tokens of open pipelines that could not be read: no worker answered for them. */
  unread: string[];
}

/**
 * Lists the hosts that have polled within five minutes or have jobs of open pipelines.
 *
 * @throws gRPC errors of Temporal
 */
export async function listHosts(client: Client, taskQueue: string): Promise<HostList> {
  const { jobs, unread } = await hostedJobs(client, taskQueue);
  const names = new Set(jobs.map(({ host }) => host));
  for (const { identity } of await pollersOf(client, taskQueue)) {
    const name = hostInIdentity(identity);
    if (name !== undefined) names.add(name);
  }
  const hosts = await Promise.all(
    [...names].sort().map(async (name): Promise<Host> => {
      const seen = await lastSeen(client, taskQueue, name);
      return {
        name,
        ...(seen ? { lastSeenAt: seen.toISOString() } : {}),
        isThere: seen !== undefined && Date.now() - seen.getTime() < POLL_INTERVAL_MS,
        jobs: jobs.filter(({ host }) => host === name).map(({ host: _host, ...job }) => job),
      };
    }),
  );
  return { hosts, unread };
}

/**
 * Gives a host up: its jobs start again on other hosts, or ask.
 *
 * @returns its jobs, and the tokens of open pipelines that may have more there, since no worker answered for them
 * @throws LonghaulError `not_found` for an unknown host, `wrong_state` for one that is there
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
      `host ${name} is there: a worker of it asked for work at ${host.lastSeenAt}. Stop its workers, and try again after ${POLL_INTERVAL_MS / 1000} seconds`,
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
  const open: { workflowId: string; marker: StartMemo }[] = [];
  for await (const { workflowId, memo } of client.workflow.list({ query })) {
    const marker = memo?.[START_MEMO] as StartMemo | undefined;
    if (marker) open.push({ workflowId, marker });
  }
  const jobs: (HostedJob & { host: string })[] = [];
  const unread: string[] = [];
  for (let at = 0; at < open.length; at += BATCH) {
    const batch = open.slice(at, at + BATCH).map(async ({ workflowId, marker: { tool, principal } }) => {
      const token = tokenOf(principal, workflowId);
      const children = await childrenOf(client, workflowId);
      if (!children) unread.push(token);
      for (const { name, status, host } of children ?? [])
        if (host !== undefined && OPEN.includes(status))
          jobs.push({ token, workflowId, tool, job: name, status, host });
    });
    await Promise.all(batch);
  }
  return { jobs, unread };
}

/** A job that waits for a free place among those that run at once is pending, and may have its workspace. */
const OPEN: readonly ChildRecord['status'][] = ['pending', 'working', 'input_required'];

/** Undefined when no worker answers, or the pipeline has closed meanwhile. */
async function childrenOf(client: Client, workflowId: string): Promise<ChildRecord[] | undefined> {
  try {
    const state = await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
      client.workflow.getHandle(workflowId).query(OPERATION_QUERY),
    );
    return state.children ?? [];
  } catch {
    return undefined;
  }
}
