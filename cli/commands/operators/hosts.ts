import type { Command } from 'commander';
import type { StepProcesses } from '../../../worker/steps/end-steps.js';
import type { Host, HostedJob } from '../../doctor/hosts.js';
import { isJson } from '../../client/command.js';
import { print, printJson, say } from '../../console.js';
import { withTemporal } from '../../with-temporal.js';

const HELP = `
A host is a machine whose workers run steps of pipelines, with one LONGHAUL_HOME. A job is listed with its latest step, unless
another job of the operation has begun a later one. For the host of this home, the steps that have processes follow: they run on while no worker
runs, and are listed also if Temporal can't be reached.
A host that has not been seen for --host-absence-minutes loses its jobs: idempotent ones start again elsewhere, others ask.
drop does this at once, for a host that won't come back.
`;

/** `longhaul hosts` and `longhaul hosts drop NAME`. They connect to Temporal, not to a server. */
export function define(hosts: Command): void {
  hosts.option('--json', 'print JSON, for programs').addHelpText('after', HELP);
  hosts.action(() =>
    withTemporal(
      hosts,
      async (client, { taskQueue, home }) => {
        const { listHosts } = await import('../../doctor/hosts.js');
        const list = await listHosts(client, taskQueue);
        const thisHost = await readThisHost(home);
        if (isJson(hosts)) return printJson({ ...list, thisHost });
        print(await tableOf(list.hosts));
        if (thisHost) print(`\n${await stepsText(thisHost)}`);
        sayUnread(list.unread);
      },
      async ({ home }) => {
        const thisHost = await readThisHost(home);
        if (thisHost && !isJson(hosts)) print(await stepsText(thisHost));
        return { thisHost };
      },
    ),
  );
  const drop = hosts
    .command('drop')
    .description("release a host's jobs, if it won't come back")
    .argument('<name>', 'name of the host')
    .option('--json', 'print JSON, for programs');
  drop.action((name: string) =>
    withTemporal(drop, async (client, { taskQueue }) => {
      const { dropHost } = await import('../../doctor/hosts.js');
      const { jobs, unread } = await dropHost(client, taskQueue, name);
      if (isJson(drop)) printJson({ dropped: name, jobs, unread });
      else {
        if (jobs.length === 0) print(`No job of an open pipeline is on ${name}.`);
        else print(`Dropped ${name}. These jobs start again on other hosts, or ask:`);
        for (const job of jobs) print(`  ${lineOf(job)}`);
        sayUnread(unread);
      }
    }),
  );
}

/** The host of the home that the command uses. */
interface ThisHost {
  name: string;
  steps: StepProcesses[];
}

/** Undefined if no worker has run in this home. */
async function readThisHost(home: string): Promise<ThisHost | undefined> {
  const [{ knownHostId }, { stepProcesses }] = await Promise.all([
    import('../../../worker/steps/host.js'),
    import('../../../worker/steps/end-steps.js'),
  ]);
  const name = knownHostId(home);
  return name === undefined ? undefined : { name, steps: await stepProcesses(home) };
}

async function stepsText({ name, steps }: ThisHost): Promise<string> {
  if (steps.length === 0) return `No steps run on this host, ${name}.`;
  const { textTable, oneLine } = await import('../../terminal/table.js');
  const rows = steps.map(({ token, job, step, startedAt, launcherPid, workerPid }) => [
    ...[token, oneLine(`${job} / ${step}`), startedAt, String(launcherPid ?? '-')],
    String(workerPid ?? 'waits for a worker'),
  ]);
  return `Steps on this host, ${name}:\n${textTable([['TOKEN', 'STEP', 'SINCE', 'LAUNCHER', 'WORKER'], ...rows])}`;
}

function sayUnread(tokens: string[]): void {
  for (const token of tokens) say(`${token} has more jobs than its memo names, so some are not listed.`);
}

async function tableOf(hosts: Host[]): Promise<string> {
  if (hosts.length === 0) return 'No hosts.';
  const { textTable, oneLine } = await import('../../terminal/table.js');
  const rows = hosts.flatMap(({ name, isThere, lastSeenAt, jobs }) => {
    const seen = isThere ? 'now' : (lastSeenAt ?? 'over 5 minutes ago');
    const [first = '', ...others] = jobs.map((job) => oneLine(lineOf(job)));
    return [[name, seen, String(jobs.length), first], ...others.map((line) => ['', '', '', line])];
  });
  return textTable([['HOST', 'SEEN', 'JOBS', ''], ...rows]);
}

function lineOf({ token, tool, job, status, step }: HostedJob): string {
  return `${token}  ${tool} ${job}${step ? ` / ${step.name}` : ''}  ${status}`;
}
