/** Lists a task queue's hosts for operators: which are present, and which open pipeline jobs have their workspace there. */
import type { Client } from '@temporalio/client';
import { LonghaulError } from '../../operations/errors.js';
import {
  PART_MEMO,
  START_MEMO,
  tokenOf,
  type PartMemo,
  type StartMemo,
} from '../../operations/wire/index.js';
import { isUnreadable } from '../../operations/wire/unreadable.js';
import { HOSTS_MEMO, STATE_MEMO, type HostsMemo, type StateMemo } from '../../operations/wire/state.js';
import { PAGE_WORKFLOW, PIPELINE_WORKFLOW } from '../../pipelines/pipeline.js';
import { DROP_HOST_SIGNAL, hostTaskQueue, placementTaskQueue } from '../../pipelines/run.js';
import { hostsIn, isPolling, POLL_INTERVAL_MS, pollersOf } from '../../platform/temporal/host-presence.js';
import { listWorkflows } from '../../platform/temporal/list-workflows.js';
import { readMemo } from '../../platform/temporal/memo.js';
import { openRuns, quote } from '../../platform/temporal/visibility-query.js';

const CALL_LIMIT_MS = 10_000;

/** A job with its workspace on a host. */
export interface HostedJob {
  /** Token of the operation. */
  token: string;
  workflowId: string;
  tool: string;
  /** Job name: `build`, `test[3]`. */
  job: string;
  /** Whether the operation, or the job's page, asks a question. */
  status: 'working' | 'input_required';
  /** Its latest step; undefined if another job has begun a later one. */
  step?: { name: string };
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
  /** Tokens of open pipelines with more jobs than their memo names. */
  unread: string[];
}

/** Lists hosts that polled within five minutes or have jobs of open pipelines. @throws gRPC errors of Temporal */
export async function listHosts(client: Client, taskQueue: string): Promise<HostList> {
  return hostsOf(client, taskQueue, await hostedJobs(client, taskQueue));
}

async function hostsOf(client: Client, taskQueue: string, { jobs, unread }: HostedJobs): Promise<HostList> {
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
  return { hosts, unread: unread.map(({ token }) => token) };
}

/**
 * Drops a host: its jobs start again on other hosts, or ask a person.
 *
 * @returns its jobs, and the tokens of pipelines that may have more there, which get the signal too
 * @throws LonghaulError `not_found` for an unknown host, `wrong_state` for a present one
 */
export async function dropHost(
  client: Client,
  taskQueue: string,
  name: string,
): Promise<{ jobs: HostedJob[]; unread: string[] }> {
  const hosted = await hostedJobs(client, taskQueue);
  const { hosts, unread } = await hostsOf(client, taskQueue, hosted);
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
  for (const workflowId of new Set([...host.jobs, ...hosted.unread].map((one) => one.workflowId)))
    await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
      client.workflow.getHandle(workflowId).signal(DROP_HOST_SIGNAL, name),
    );
  return { jobs: host.jobs, unread };
}

interface HostedJobs {
  jobs: (HostedJob & { host: string })[];
  unread: Pick<HostedJob, 'token' | 'workflowId'>[];
}

/** Lists the memos of pipelines and of their pages: this asks no workflow, and needs no worker. */
async function hostedJobs(client: Client, taskQueue: string): Promise<HostedJobs> {
  const types = [PIPELINE_WORKFLOW, PAGE_WORKFLOW].map(quote).join(', ');
  const query = `WorkflowType IN (${types}) AND ${await openRuns(client)} AND TaskQueue = ${quote(taskQueue)}`;
  const found: HostedJobs = { jobs: [], unread: [] };
  for await (const { workflowId, info } of listWorkflows(client, query)) {
    const fields = [START_MEMO, PART_MEMO, HOSTS_MEMO, STATE_MEMO];
    const memo = await readMemo(client.options.loadedDataConverter, info.memo?.fields, fields);
    const operation = operationOf(workflowId, memo);
    const hosts = memo[HOSTS_MEMO] as HostsMemo | undefined;
    if (!operation || !hosts) continue;
    if (Object.values(memo).some(isUnreadable)) {
      found.unread.push(operation);
      continue;
    }
    const state = memo[STATE_MEMO] as StateMemo | undefined;
    for (const [host, names] of Object.entries(hosts.jobs))
      for (const job of names) found.jobs.push({ ...operation, job, host, ...shown(job, state) });
    if (hosts.hasMore) found.unread.push(operation);
  }
  return found;
}

/** The operation that a pipeline is, or that a page belongs to. */
function operationOf(
  workflowId: string,
  memo: Record<string, unknown>,
): Pick<HostedJob, 'token' | 'workflowId' | 'tool'> | undefined {
  const start = memo[START_MEMO] as StartMemo | undefined;
  if (start) return { token: tokenOf(start.principal, workflowId), workflowId, tool: start.tool };
  const part = memo[PART_MEMO] as PartMemo | undefined;
  return part && { token: part.token, workflowId: part.operationId, tool: part.tool };
}

/** The stage is the latest step of any job: `build / compile`. */
function shown(job: string, { stage = '', questions }: StateMemo = {}): Pick<HostedJob, 'status' | 'step'> {
  const prefix = `${job} / `;
  return {
    status: questions ? 'input_required' : 'working',
    ...(stage.startsWith(prefix) ? { step: { name: stage.slice(prefix.length) } } : {}),
  };
}
