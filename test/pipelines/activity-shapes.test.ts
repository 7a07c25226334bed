/**
 * Shapes of what workflows and activities of pipelines exchange over the queues of a host. An operation's workflow may run on
 * another release than the worker of its host, and its history is older than both: fields are only added, and optional.
 *
 * Append-only: the types below are copies of what a release had. `npm run types` compares them with today's types, in both
 * directions. If it fails here, change the code, never the copy; a new release adds a copy of what it has added.
 */
import { expect, test } from '@jest/globals';
import * as activities from '../../activities/pipeline/index.js';

type Today = typeof activities;

/** True if a release and today's code read each other's values, and no field has been dropped. */
type Fits<Now, Old> = [Now] extends [Old]
  ? [Old] extends [Now]
    ? keyof Old extends keyof Now
      ? true
      : 'a field is gone'
    : 'a value of the release is refused today'
  : 'a value of today is refused by the release';
type AllFit<Release extends { [Name in keyof Release]: { argument: unknown; result: unknown } }> = {
  [Name in keyof Release]: Name extends keyof Today
    ? [
        argument: Fits<Parameters<Today[Name]>[0], Release[Name]['argument']>,
        result: Fits<Awaited<ReturnType<Today[Name]>>, Release[Name]['result']>,
      ]
    : 'the activity is gone';
};

interface Child010 {
  job: string;
  index?: number;
}

interface Artifact010 {
  child: Child010;
  path: string;
  name: string;
  workflowId: string;
  bytes: number;
}

interface Step010 {
  name: string;
  status:
    'pending' | 'working' | 'input_required' | 'completed' | 'failed' | 'timed_out' | 'canceled' | 'skipped';
  exitCode?: number;
  startedAt?: string;
  closedAt?: string;
  logsOf?: string;
}

interface ChildRecord010 {
  name: string;
  status: Step010['status'];
  statusMessage?: string;
  item?: unknown;
  steps: Step010[];
  outputs?: Record<string, string>;
  artifacts?: { name: string; path: string; bytes: number; workflowId: string }[];
  approval?: Record<string, unknown>;
  host?: string;
  page?: { workflowId?: string; job: string; from: number; count: number };
}

interface Release010 {
  openPipelineWorkspace: {
    argument: {
      child: Child010;
      createdAt?: string;
      inputs?: Record<string, unknown>;
      item?: unknown;
      secrets: string[];
      artifacts: Artifact010[];
      takeOverFrom?: string;
    };
    result: { host: string; isTakenOver: boolean };
  };
  runPipelineStep: {
    argument: {
      child: Child010;
      step: number;
      name: string;
      run: string;
      workingDirectory?: string;
      env: Record<string, string>;
      secrets: string[];
      approval?: Record<string, unknown>;
      timeoutMinutes?: number;
      round: number;
      isTakenAsDone?: boolean;
    };
    result: { exitCode: number; outputs: Record<string, string> };
  };
  savePipelineArtifacts: {
    argument: { child: Child010; patterns: string[]; secrets: string[] };
    result: Artifact010[];
  };
  readPipelinePage: { argument: string; result: ChildRecord010[] };
  awaitPipelineHost: {
    argument: { host: string; since: string; limitMs?: number };
    result: { isBack: boolean; lastSeenAt: string };
  };
}

// Doesn't compile where a shape has changed; the message names the activity and what is wrong.
const release010: AllFit<Release010> = {
  openPipelineWorkspace: [true, true],
  runPipelineStep: [true, true],
  savePipelineArtifacts: [true, true],
  readPipelinePage: [true, true],
  awaitPipelineHost: [true, true],
};

/** Activities that are in no release yet: move them into the copy of the release that they come with. */
const unreleased: (keyof Today)[] = [];

test('every activity on the queues of a host has its shape in a release', () => {
  expect(Object.keys(activities).sort()).toEqual([...Object.keys(release010), ...unreleased].sort());
});
