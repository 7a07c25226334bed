import type { Command } from 'commander';
import { isJson } from '../../client/command.js';
import { print, printJson } from '../../console.js';
import { withTemporal } from '../../with-temporal.js';

const HELP = `
The build of a worker is the version of Temporal's SDK and a digest of the workflows' code. An operation runs on the build that it began
on; new ones go to the current build, a share of them to a ramping one. \`longhaul up\` makes its own build current. Elsewhere
somebody does, with Temporal's command line, once workers of the build run:

  temporal worker deployment set-current-version --deployment-name longhaul-longhaul --build-id BUILD
`;

/** `longhaul deploy status`. Connects to Temporal, not to a server. */
export function define(deploy: Command): void {
  deploy.addHelpText('after', HELP);
  const command = deploy
    .command('status')
    .description('show the builds, what goes to each, and the open operations that need it')
    .option('--json', 'print JSON, for programs');
  command.action(() =>
    withTemporal(command, async (client, { taskQueue }) => {
      const [{ reportDeployment }, { deploymentJson, deploymentText }] = await Promise.all([
        import('../../../platform/temporal/deployment-report.js'),
        import('../../deploy/show.js'),
      ]);
      const report = await reportDeployment(client, taskQueue);
      const { namespace } = client.options;
      if (isJson(command)) printJson(deploymentJson(report, namespace));
      else print(deploymentText(report, namespace));
    }),
  );
}
