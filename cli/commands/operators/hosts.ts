import type { Command } from 'commander';
import { stepProcesses, type StepProcesses } from '../../../worker/steps/end-steps.js';
import { knownHostId } from '../../../worker/steps/host.js';
import { addJsonFlag, isJson, runReporting } from '../../client/command.js';
import { print, printJson, say } from '../../console.js';
import { dropHost, listHosts, type Host, type HostedJob } from '../../doctor/hosts.js';
import { CommandFailure } from '../../failure.js';
import { settingsOf } from '../../settings-flags.js';
import { oneLine, textTable } from '../../terminal/table.js';
import { runOnTemporal, withTemporal } from '../../with-temporal.js';

const HELP = `
A host is a machine whose workers run steps of pipelines, with one LONGHAUL_HOME. A job is listed with its latest step, unless
another job of the operation has begun a later one. For the host of this home, the steps that have processes follow: they run on while no worker
runs, and are listed also if Temporal can't be reached.
A host that has not been seen for --host-absence-minutes loses its jobs: idempotent ones start again elsewhere, others ask.
drop does this at once, for a host that won't come back.
`;

/** `longhaul hosts` and `longhaul hosts drop NAME`. They connect to Temporal, not to a server. */
export function define(hosts: Command): void {
  addJsonFlag(hosts).addHelpText('after', HELP);
  runReporting(hosts, async () => {
    const settings = await settingsOf(hosts);
    const thisHost = await readThisHost(settings.home);
    const steps = thisHost && stepsText(thisHost);
    try {
      const list = await withTemporal(settings, (client) => listHosts(client, settings.taskQueue));
      if (isJson(hosts)) return printJson({ ...list, thisHost });
      print(tableOf(list.hosts));
      if (steps !== undefined) print(`\n${steps}`);
      sayUnread(list.unread);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      if (steps !== undefined && !isJson(hosts)) print(steps);
      throw new CommandFailure(error.message, error.exitCode, { thisHost });
    }
  });
  const drop = addJsonFlag(hosts.command('drop'))
    .description("release a host's jobs, if it won't come back")
    .argument('<name>', 'name of the host');
  runOnTemporal(drop, async (client, { taskQueue }, name: string) => {
    const { jobs, unread } = await dropHost(client, taskQueue, name);
    if (isJson(drop)) return printJson({ dropped: name, jobs, unread });
    if (jobs.length === 0) print(`No job of an open pipeline is on ${name}.`);
    else print(`Dropped ${name}. These jobs start again on other hosts, or ask:`);
    for (const job of jobs) print(`  ${lineOf(job)}`);
    sayUnread(unread);
  });
}

/** The host of the home that the command uses. */
interface ThisHost {
  name: string;
  steps: StepProcesses[];
}

/** Undefined if no worker has run in this home. */
async function readThisHost(home: string): Promise<ThisHost | undefined> {
  const name = knownHostId(home);
  return name === undefined ? undefined : { name, steps: await stepProcesses(home) };
}

function stepsText({ name, steps }: ThisHost): string {
  if (steps.length === 0) return `No steps run on this host, ${name}.`;
  const rows = steps.map(({ token, job, step, startedAt, launcherPid, workerPid }) => [
    ...[token, oneLine(`${job} / ${step}`), startedAt, String(launcherPid ?? '-')],
    String(workerPid ?? 'waits for a worker'),
  ]);
  return `Steps on this host, ${name}:\n${textTable([['TOKEN', 'STEP', 'SINCE', 'LAUNCHER', 'WORKER'], ...rows])}`;
}

function sayUnread(tokens: string[]): void {
  for (const token of tokens) say(`${token} has more jobs than its memo names, so some are not listed.`);
}

function tableOf(hosts: Host[]): string {
  if (hosts.length === 0) return 'No hosts.';
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
