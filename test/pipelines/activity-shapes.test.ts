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
type ArgumentOf<Name extends keyof Today> = Parameters<Today[Name]>[0];
type ResultOf<Name extends keyof Today> = Awaited<ReturnType<Today[Name]>>;

/** An activity's argument and result in a release. */
type Shape = { argument: unknown; result: unknown };

/**
 * All true if a release and today's code understand each other: each takes the other's arguments and reads the other's results,
 * and no field has been dropped.
 */
type Fits<Name extends keyof Today, Old extends Shape> = [
  Old['argument'] extends ArgumentOf<Name> ? true : 'an argument of the release is refused today',
  ArgumentOf<Name> extends Old['argument'] ? true : 'an argument of today is refused by the release',
  keyof Old['argument'] extends keyof ArgumentOf<Name> ? true : 'a field of the argument is gone',
  ResultOf<Name> extends Old['result'] ? true : 'a result of today is unreadable for the release',
  Old['result'] extends ResultOf<Name> ? true : 'a result of the release is unreadable today',
  keyof Old['result'] extends keyof ResultOf<Name> ? true : 'a field of the result is gone',
];
type AllFit<Release extends { [Name in keyof Release]: Shape }> = {
  [Name in keyof Release]: Name extends keyof Today ? Fits<Name, Release[Name]> : 'the activity is gone';
};
type Yes = [true, true, true, true, true, true];

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

const FITS: Yes = [true, true, true, true, true, true];

// Doesn't compile where a shape has changed; the message names the activity and what is wrong.
const release010 = {
  openPipelineWorkspace: FITS,
  runPipelineStep: FITS,
  savePipelineArtifacts: FITS,
  readPipelinePage: FITS,
  awaitPipelineHost: FITS,
} satisfies AllFit<Release010>;

/** Activities that are in no release yet: move them into the copy of the release that they come with. */
const unreleased: (keyof Today)[] = [];

test('every activity on the queues of a host has its shape in a release', () => {
  expect(Object.keys(activities).sort()).toEqual([...Object.keys(release010), ...unreleased].sort());
});
