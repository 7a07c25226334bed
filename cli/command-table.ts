/** The commands of `longhaul`, in the order of its help. The commands of `mounts.ts` follow. */
import { OPERATIONS, type CommandRow } from './lazy-commands.js';

const OPERATORS = 'Operators:';

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'up',
    description: 'run the whole stack: Temporal (unless TEMPORAL_ADDRESS names one), worker and MCP server',
    load: () => import('./commands/processes/up.js'),
  },
  {
    name: 'down',
    description: 'end the stack that `longhaul up` or `longhaul stdio` started',
    load: () => import('./commands/processes/down.js'),
  },
  {
    name: 'stdio',
    description:
      'speak MCP on standard input and output, over the running stack or a new one that keeps running',
    load: () => import('./commands/processes/stdio.js'),
  },
  {
    name: 'server',
    description: 'run the MCP server alone, in the foreground',
    load: () => import('./commands/processes/server.js'),
  },
  {
    name: 'worker',
    description: 'run a Temporal worker alone, in the foreground',
    load: () => import('./commands/processes/worker.js'),
  },
  {
    name: 'temporal',
    description: 'run the embedded Temporal alone, in the foreground',
    load: () => import('./commands/processes/temporal.js'),
  },
  {
    name: 'check',
    group: OPERATIONS,
    description: "check the project's tools, workflows, activities, types and pipelines, or only YAML files",
    load: () => import('./commands/authors/check.js'),
  },
  {
    name: 'lint',
    group: OPERATIONS,
    description:
      "report gaps in tools' documentation: files of tools and pipelines, or folders (default: all of the project)",
    load: () => import('./commands/authors/lint.js'),
  },
  {
    name: 'conformance',
    group: OPERATIONS,
    description: 'check that a worker on --task-queue implements the runtime contract',
    load: () => import('./commands/authors/conformance.js'),
  },
  {
    name: 'tools',
    group: OPERATIONS,
    description: 'list the tools that the server has, or document one',
    load: () => import('./commands/operations/tools.js'),
  },
  {
    name: 'call',
    group: OPERATIONS,
    description: 'call a tool and wait for its result',
    load: () => import('./commands/operations/call.js'),
  },
  {
    name: 'watch',
    group: OPERATIONS,
    description: 'wait for operations, answer their questions, show their results',
    load: () => import('./commands/operations/watch.js'),
  },
  {
    name: 'status',
    group: OPERATIONS,
    description: "show an operation's status",
    load: () => import('./commands/operations/status.js'),
  },
  {
    name: 'result',
    group: OPERATIONS,
    description: 'print the result of an operation',
    load: () => import('./commands/operations/result.js'),
  },
  {
    name: 'get',
    group: OPERATIONS,
    description: 'fetch a file of an operation; without a name, list its files',
    load: () => import('./commands/operations/get.js'),
  },
  {
    name: 'logs',
    group: OPERATIONS,
    description: "print an operation's log, or the output of a pipeline's steps",
    load: () => import('./commands/operations/logs.js'),
  },
  {
    name: 'answer',
    group: OPERATIONS,
    description: 'answer a question of an operation; asks in a terminal',
    load: () => import('./commands/operations/answer.js'),
  },
  {
    name: 'cancel',
    group: OPERATIONS,
    description: 'cancel an operation',
    load: () => import('./commands/operations/cancel.js'),
  },
  {
    name: 'resume',
    group: OPERATIONS,
    description: 'resume a pipeline that did not complete, and wait for its result',
    load: () => import('./commands/operations/resume.js'),
  },
  {
    name: 'delete',
    group: OPERATIONS,
    description: 'delete an operation that has ended, with its result, files and logs',
    load: () => import('./commands/operations/delete.js'),
  },
  {
    name: 'list',
    group: OPERATIONS,
    description: 'list operations, newest first',
    load: () => import('./commands/operations/list.js'),
  },
  {
    name: 'top',
    group: OPERATIONS,
    description: 'show the open operations on one screen; answer and cancel them',
    load: () => import('./commands/operations/top.js'),
  },
  {
    name: 'doctor',
    group: OPERATORS,
    description: 'check that everything needed is in place',
    load: () => import('./commands/operators/doctor.js'),
  },
  {
    name: 'deploy',
    group: OPERATORS,
    description: 'show the builds of the workers, and the open operations that need each',
    load: () => import('./commands/operators/deploy.js'),
  },
  {
    name: 'hosts',
    group: OPERATORS,
    description: 'list the hosts that run steps of pipelines, with the jobs on each',
    load: () => import('./commands/operators/hosts.js'),
  },
  {
    name: 'keys',
    group: OPERATORS,
    description: 'list the API keys with which callers say who they are',
    load: () => import('./commands/operators/keys.js'),
  },
  {
    name: 'policy',
    group: OPERATORS,
    description: 'check what callers may do',
    load: () => import('./commands/operators/policy.js'),
  },
  {
    name: 'audit',
    group: OPERATORS,
    description: 'list the lines of the audit log',
    load: () => import('./commands/operators/audit.js'),
  },
  {
    name: 'gc',
    group: OPERATORS,
    description: 'remove data of the home that no operation needs, or show it',
    load: () => import('./commands/operators/gc.js'),
  },
  {
    name: 'backup',
    group: OPERATORS,
    description: 'copy a home into a file or folder, also while its stack runs',
    load: () => import('./commands/operators/backup.js'),
  },
  {
    name: 'restore',
    group: OPERATORS,
    description: 'make a home of a backup',
    load: () => import('./commands/operators/restore.js'),
  },
  {
    name: 'adopt',
    group: OPERATORS,
    description: 'make an operation of a run that was started elsewhere, and print its token',
    load: () => import('./commands/operators/adopt.js'),
  },
  {
    name: 'discover',
    group: OPERATORS,
    description: 'draft tools over the workflow types of a namespace, from its recent runs',
    load: () => import('./commands/authors/discover.js'),
  },
  {
    name: 'replay',
    group: OPERATORS,
    description: 'check that histories of workflows fit the code of this build',
    load: () => import('./commands/authors/replay.js'),
  },
  {
    name: 'storage',
    group: OPERATORS,
    description: 'check the storage of files, logs and large values',
    load: () => import('./commands/operators/storage.js'),
  },
  {
    name: 'sign',
    group: OPERATORS,
    description: "sign a start for Temporal's own command line, UI and schedules",
    load: () => import('./commands/operators/sign.js'),
  },
  {
    name: 'sign-answer',
    group: OPERATORS,
    description: "sign an operator's answer for Temporal's own command line",
    load: () => import('./commands/operators/sign-answer.js'),
  },
];
