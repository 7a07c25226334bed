/** The commands of `longhaul`, in the order of its help. The commands of `mounts.ts` follow. */
import { OPERATIONS, type CommandRow } from './lazy-commands.js';

const PIPELINES = 'Tools and pipelines:';
const OPERATORS = 'Operators:';

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'up',
    description: 'run the whole stack: Temporal (unless TEMPORAL_ADDRESS names one), worker and MCP server',
    load: () => import('./commands/up.js'),
  },
  {
    name: 'down',
    description: 'end the stack that `longhaul up` or `longhaul stdio` started',
    load: () => import('./commands/down.js'),
  },
  {
    name: 'stdio',
    description:
      'speak MCP on standard input and output, over the running stack or a new one that keeps running',
    load: () => import('./commands/stdio.js'),
  },
  {
    name: 'server',
    description: 'run the MCP server alone, in the foreground',
    load: () => import('./commands/server.js'),
  },
  {
    name: 'worker',
    description: 'run a Temporal worker alone, in the foreground',
    load: () => import('./commands/worker.js'),
  },
  {
    name: 'temporal',
    description: 'run the embedded Temporal alone, in the foreground',
    load: () => import('./commands/temporal.js'),
  },
  {
    name: 'check',
    group: PIPELINES,
    description: "check the project's tools, workflows, activities, types and pipelines, or only YAML files",
    load: () => import('./commands/check.js'),
  },
  {
    name: 'lint',
    group: OPERATIONS,
    description:
      "report gaps in tools' documentation: files of tools and pipelines, or folders (default: all of the project)",
    load: () => import('./commands/lint.js'),
  },
  {
    name: 'conformance',
    group: PIPELINES,
    description: 'check that a worker on --task-queue implements the runtime contract',
    load: () => import('./commands/conformance.js'),
  },
  {
    name: 'tools',
    group: OPERATIONS,
    description: 'list the tools that the server has, or document one',
    load: () => import('./commands/tools.js'),
  },
  {
    name: 'call',
    group: OPERATIONS,
    description: 'call a tool and wait for its result',
    load: () => import('./commands/call.js'),
  },
  {
    name: 'watch',
    group: OPERATIONS,
    description: 'wait for operations, answer their questions, show their results',
    load: () => import('./commands/watch.js'),
  },
  {
    name: 'status',
    group: OPERATIONS,
    description: "show an operation's status",
    load: () => import('./commands/status.js'),
  },
  {
    name: 'result',
    group: OPERATIONS,
    description: 'print the result of an operation',
    load: () => import('./commands/result.js'),
  },
  {
    name: 'get',
    group: OPERATIONS,
    description: 'fetch a file of an operation; without a name, list its files',
    load: () => import('./commands/get.js'),
  },
  {
    name: 'logs',
    group: OPERATIONS,
    description: "print an operation's log, or the output of a pipeline's steps",
    load: () => import('./commands/logs.js'),
  },
  {
    name: 'answer',
    group: OPERATIONS,
    description: 'answer a question of an operation; asks in a terminal',
    load: () => import('./commands/answer.js'),
  },
  {
    name: 'cancel',
    group: OPERATIONS,
    description: 'cancel an operation',
    load: () => import('./commands/cancel.js'),
  },
  {
    name: 'resume',
    group: OPERATIONS,
    description: 'resume a pipeline that did not complete, and wait for its result',
    load: () => import('./commands/resume.js'),
  },
  {
    name: 'delete',
    group: OPERATIONS,
    description: 'delete an operation that has ended, with its result, files and logs',
    load: () => import('./commands/delete.js'),
  },
  {
    name: 'list',
    group: OPERATIONS,
    description: 'list operations, newest first',
    load: () => import('./commands/list.js'),
  },
  {
    name: 'top',
    group: OPERATIONS,
    description: 'show the open operations on one screen; answer and cancel them',
    load: () => import('./commands/top.js'),
  },
  {
    name: 'doctor',
    group: OPERATIONS,
    description: 'check that everything needed is in place',
    load: () => import('./commands/doctor.js'),
  },
  {
    name: 'deploy',
    group: OPERATORS,
    description: 'show the builds of the workers, and the open operations that need each',
    load: () => import('./commands/deploy.js'),
  },
  {
    name: 'hosts',
    description: 'list the hosts that run steps of pipelines, with the jobs on each',
    load: () => import('./commands/hosts.js'),
  },
  {
    name: 'keys',
    description: 'list the API keys with which callers say who they are',
    load: () => import('./commands/keys.js'),
  },
  {
    name: 'policy',
    description: 'check what callers may do',
    load: () => import('./commands/policy.js'),
  },
  {
    name: 'audit',
    description: 'list the lines of the audit log',
    load: () => import('./commands/audit.js'),
  },
  {
    name: 'gc',
    group: OPERATORS,
    description: 'remove data of the home that no operation needs, or show it',
    load: () => import('./commands/gc.js'),
  },
  {
    name: 'backup',
    group: OPERATORS,
    description: 'copy a home into a file or folder, also while its stack runs',
    load: () => import('./commands/backup.js'),
  },
  {
    name: 'restore',
    group: OPERATORS,
    description: 'make a home of a backup',
    load: () => import('./commands/restore.js'),
  },
  {
    name: 'adopt',
    group: OPERATORS,
    description: 'make an operation of a run that was started elsewhere, and print its token',
    load: () => import('./commands/adopt.js'),
  },
  {
    name: 'discover',
    group: OPERATORS,
    description: 'draft tools over the workflow types of a namespace, from its recent runs',
    load: () => import('./commands/discover.js'),
  },
  {
    name: 'replay',
    group: OPERATORS,
    description: 'check that histories of workflows fit the code of this build',
    load: () => import('./commands/replay.js'),
  },
  {
    name: 'storage',
    description: 'check the storage of files, logs and large values',
    load: () => import('./commands/storage.js'),
  },
  {
    name: 'sign',
    group: OPERATORS,
    description: "sign a start for Temporal's own command line, UI and schedules",
    load: () => import('./commands/sign.js'),
  },
  {
    name: 'sign-answer',
    group: OPERATORS,
    description: "sign an operator's answer for Temporal's own command line",
    load: () => import('./commands/sign-answer.js'),
  },
];
