/** The commands of `longhaul`, in the order of its help. The commands of `mounts.ts` follow. */
import { OPERATIONS, type CommandRow } from './lazy-commands.js';

export const COMMANDS: readonly CommandRow[] = [
  ...grouped(undefined, {
    up: {
      description: 'run the whole stack: Temporal, worker and MCP server',
      load: () => import('./commands/processes/up.js'),
    },
    down: {
      description: 'end the stack that `longhaul up` or `longhaul stdio` started',
      load: () => import('./commands/processes/down.js'),
    },
    stdio: {
      description: 'speak MCP on standard input and output, over the stack',
      load: () => import('./commands/processes/stdio.js'),
    },
    server: {
      description: 'run the MCP server alone, in the foreground',
      load: () => import('./commands/processes/server.js'),
    },
    worker: {
      description: 'run a Temporal worker alone, in the foreground',
      load: () => import('./commands/processes/worker.js'),
    },
    temporal: {
      description: 'run the embedded Temporal alone, in the foreground',
      load: () => import('./commands/processes/temporal.js'),
    },
  }),
  ...grouped(OPERATIONS, {
    check: {
      description: "check the project's tools, workflows and pipelines",
      load: () => import('./commands/authors/check.js'),
    },
    lint: {
      description: "report gaps in the documentation of the project's tools",
      load: () => import('./commands/authors/lint.js'),
    },
    conformance: {
      description: 'check that a worker implements the runtime contract',
      load: () => import('./commands/authors/conformance.js'),
    },
    tools: {
      description: 'list the tools that the server has, or document one',
      load: () => import('./commands/operations/tools.js'),
    },
    call: {
      description: 'call a tool and wait for its result',
      load: () => import('./commands/operations/call.js'),
    },
    watch: {
      description: 'wait for operations, answer questions, show results',
      load: () => import('./commands/operations/watch.js'),
    },
    status: {
      description: "show an operation's status",
      load: () => import('./commands/operations/status.js'),
    },
    result: {
      description: 'print the result of an operation',
      load: () => import('./commands/operations/result.js'),
    },
    get: {
      description: 'fetch a file of an operation; without a name, list its files',
      load: () => import('./commands/operations/get.js'),
    },
    logs: {
      description: "print the log of an operation, or its steps' output",
      load: () => import('./commands/operations/logs.js'),
    },
    answer: {
      description: 'answer a question of an operation; asks in a terminal',
      load: () => import('./commands/operations/answer.js'),
    },
    cancel: {
      description: 'cancel an operation',
      load: () => import('./commands/operations/cancel.js'),
    },
    resume: {
      description: 'resume a pipeline that did not complete, and wait for it',
      load: () => import('./commands/operations/resume.js'),
    },
    delete: {
      description: 'delete an ended operation with its result, files and logs',
      load: () => import('./commands/operations/delete.js'),
    },
    list: {
      description: 'list operations, newest first',
      load: () => import('./commands/operations/list.js'),
    },
    top: {
      description: 'show the open operations on one screen; answer and cancel them',
      load: () => import('./commands/operations/top.js'),
    },
  }),
  ...grouped('Operators:', {
    doctor: {
      description: 'check that everything needed is in place',
      load: () => import('./commands/operators/doctor.js'),
    },
    deploy: {
      description: "show the workers' builds, and the operations that need each",
      load: () => import('./commands/operators/deploy.js'),
    },
    hosts: {
      description: 'list the hosts that run steps of pipelines, with their jobs',
      load: () => import('./commands/operators/hosts.js'),
    },
    keys: {
      description: 'list the API keys with which callers say who they are',
      load: () => import('./commands/operators/keys.js'),
    },
    policy: {
      description: 'check what callers may do',
      load: () => import('./commands/operators/policy.js'),
    },
    audit: {
      description: 'list the lines of the audit log',
      load: () => import('./commands/operators/audit.js'),
    },
    gc: {
      description: 'remove data of the home that no operation needs, or show it',
      load: () => import('./commands/operators/gc.js'),
    },
    backup: {
      description: 'copy a home into a file or folder, also while its stack runs',
      load: () => import('./commands/operators/backup.js'),
    },
    restore: {
      description: 'make a home of a backup',
      load: () => import('./commands/operators/restore.js'),
    },
    adopt: {
      description: 'make an operation of a run that was started elsewhere',
      load: () => import('./commands/operators/adopt.js'),
    },
    discover: {
      description: "draft tools over a namespace's workflow types",
      load: () => import('./commands/authors/discover.js'),
    },
    replay: {
      description: 'check that histories of workflows fit the code of this build',
      load: () => import('./commands/authors/replay.js'),
    },
    storage: {
      description: 'check the storage of files, logs and large values',
      load: () => import('./commands/operators/storage.js'),
    },
    sign: {
      description: "sign a start for Temporal's own command line, UI and schedules",
      load: () => import('./commands/operators/sign.js'),
    },
    'sign-answer': {
      description: "sign an operator's answer for Temporal's own command line",
      load: () => import('./commands/operators/sign-answer.js'),
    },
  }),
];

/** @param group heading in the help. Default: `Commands:` */
function grouped(
  group: string | undefined,
  commands: Record<string, Pick<CommandRow, 'description' | 'load'>>,
): CommandRow[] {
  return Object.entries(commands).map(([name, command]) => ({ name, group, ...command }));
}
