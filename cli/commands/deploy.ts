import { InvalidArgumentError, type Command } from 'commander';
import type { Settings } from '../../platform/settings/index.js';
import { isJson, wholeNumber } from '../client/command.js';
import { print, printJson } from '../console.js';
import type { ChangeFlags } from '../deploy/change.js';
import type { ConfirmFlags } from '../deploy/confirm.js';
import { withTemporal } from '../with-temporal.js';

const HELP = `
The build of a worker is the version of Temporal's SDK and a digest of the workflows' code. An operation runs on the build that it began
on; new ones go to the current build, a share of them to a ramping one. \`longhaul up\` makes its own build current. Elsewhere
somebody does, once workers of the build run:

  longhaul deploy status           which builds there are, and what each still runs
  longhaul deploy ramp 10%         a tenth of new operations go to this project's build
  longhaul deploy current          all new operations go to it
  longhaul deploy current BUILD    roll back to the build before
  longhaul deploy retire BUILD     forget a build that nothing needs any more
`;
const BUILD = 'build of the workers (default: that of this release and project)';
/** Default of --wait, in seconds. */
const WAIT_SECONDS = 60;

/** `longhaul deploy` and its commands. They connect to Temporal, not to a server. */
export function define(deploy: Command): void {
  deploy.addHelpText('after', HELP);
  registerStatus(deploy);
  registerCurrent(deploy);
  registerRamp(deploy);
  registerRetire(deploy);
}

function registerStatus(deploy: Command): void {
  const command = deploy
    .command('status')
    .description('show the builds, what goes to each, and what each still runs')
    .option('--json', 'print JSON, for programs');
  command.action(() =>
    withTemporal(command, async (client, { taskQueue }) => {
      const [{ reportDeployment }, { deploymentJson, deploymentText }] = await Promise.all([
        import('../../platform/deployment-report.js'),
        import('../deploy/show.js'),
      ]);
      const report = await reportDeployment(client, taskQueue);
      const { namespace } = client.options;
      if (isJson(command)) printJson(deploymentJson(report, namespace));
      else print(deploymentText(report, namespace));
    }),
  );
}

function registerCurrent(deploy: Command): void {
  const command = waiting(changing(deploy, 'current', 'send all new operations to a build')).argument(
    '[build]',
    BUILD,
  );
  command.action((build: string | undefined) =>
    withTemporal(command, async (client, settings) => {
      const { makeCurrent } = await import('../deploy/change.js');
      const buildId = await buildOf(settings, build);
      await makeCurrent(client, settings.taskQueue, buildId, command.opts<ChangeFlags>());
    }),
  );
}

function registerRamp(deploy: Command): void {
  const command = waiting(changing(deploy, 'ramp', 'send a share of new operations to a build'))
    .argument('<percent>', 'share, from 0 to 100; 0 ends the ramp', percentage)
    .argument('[build]', BUILD);
  command.action((percent: number, build: string | undefined) =>
    withTemporal(command, async (client, settings) => {
      const { ramp } = await import('../deploy/change.js');
      const buildId = percent === 0 ? build : await buildOf(settings, build);
      await ramp(client, settings.taskQueue, buildId, percent, command.opts<ChangeFlags>());
    }),
  );
}

function registerRetire(deploy: Command): void {
  const command = changing(deploy, 'retire', 'forget a build that no open operation needs').argument(
    '<build>',
    'build of the workers',
  );
  command.action((build: string) =>
    withTemporal(command, async (client, { taskQueue }) => {
      const { retire } = await import('../deploy/retire.js');
      await retire(client, taskQueue, build, command.opts<ConfirmFlags>());
    }),
  );
}

/** A command that shows what it would do, and asks. */
function changing(deploy: Command, name: string, description: string): Command {
  return deploy.command(name).description(description).option('--yes', "don't ask, for scripts");
}

function waiting(command: Command): Command {
  return command.option(
    '--wait <seconds>',
    'how long to wait for a worker of the build',
    wholeNumber,
    WAIT_SECONDS,
  );
}

/** The given build, or that of this release and project: its workflows are bundled, as a worker would. */
async function buildOf(settings: Settings, build: string | undefined): Promise<string> {
  if (build !== undefined) return build;
  const { bundleWorkflows } = await import('../../worker/bundle.js');
  return (await bundleWorkflows(settings, { leavesOut: true })).buildId;
}

/** Parses `10` or `10%`. @throws InvalidArgumentError for anything but a number from 0 to 100 */
function percentage(text: string): number {
  const number = Number(text.replace(/%$/, ''));
  if (!/^\d+(\.\d+)?%?$/.test(text) || number > 100)
    throw new InvalidArgumentError('expected a number from 0 to 100, as in 10 or 10%.');
  return number;
}
