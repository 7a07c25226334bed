import type { Command } from 'commander';
import type { Host, HostedJob } from '../../platform/hosts.js';
import { isJson, printJson } from '../client/command.js';
import { print, say } from '../console.js';
import { withTemporal } from '../with-temporal.js';

const HELP = `
A host is a machine whose workers run steps of pipelines, with one LONGHAUL_HOME. One that has not been seen for
--host-absence-minutes loses its jobs: idempotent ones start again elsewhere, others ask.
drop does this at once, for a host that won't come back.
`;

/** `longhaul hosts` and `longhaul hosts drop NAME`. They connect to Temporal, not to a server. */
export function registerHosts(program: Command): void {
  const hosts = program
    .command('hosts')
    .description('list the hosts that run steps of pipelines, with the jobs on each')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', HELP);
  hosts.action(() =>
    withTemporal(hosts, async (client, { taskQueue }) => {
      const { listHosts } = await import('../../platform/hosts.js');
      const list = await listHosts(client, taskQueue);
      if (isJson(hosts)) printJson(list);
      else {
        print(await tableOf(list.hosts));
        sayUnread(list.unread);
      }
    }),
  );
  const drop = hosts
    .command('drop')
    .description("release a host's jobs, if it won't come back")
    .argument('<name>', 'name of the host')
    .option('--json', 'print JSON, for programs');
  drop.action((name: string) =>
    withTemporal(drop, async (client, { taskQueue }) => {
      const { dropHost } = await import('../../platform/hosts.js');
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

function sayUnread(tokens: string[]): void {
  for (const token of tokens)
    say(`No worker answered for ${token}, so its jobs are not included. Try again once a worker runs.`);
}

async function tableOf(hosts: Host[]): Promise<string> {
  if (hosts.length === 0) return 'No hosts.';
  const { textTable, oneLine } = await import('../client/table.js');
  const rows = hosts.flatMap(({ name, isThere, lastSeenAt, jobs }) => {
    const seen = isThere ? 'now' : (lastSeenAt ?? 'over 5 minutes ago');
    const [first = '', ...others] = jobs.map((job) => oneLine(lineOf(job)));
    return [[name, seen, String(jobs.length), first], ...others.map((line) => ['', '', '', line])];
  });
  return textTable([['HOST', 'SEEN', 'JOBS', ''], ...rows]);
}

function lineOf({ token, tool, job, status }: HostedJob): string {
  return `${token}  ${tool} ${job}  ${status}`;
}
