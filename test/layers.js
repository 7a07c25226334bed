/** Checks what each room imports; a check that looked at nothing has failed. */
import { cruise } from 'dependency-cruiser';
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const ROOMS = [
  'operations',
  'engine',
  'workflows',
  'activities',
  'tools',
  'pipelines',
  'worker',
  'mcp-server',
  'mailbox',
  'mailbox/client',
  'mailbox/workflows',
  'mailbox/tools',
  'mailbox/cli',
  'platform',
  'stack',
  'cli',
];
const options = await extractConfig('./.dependency-cruiser.cjs');
const { output } = await cruise(ROOMS, options, undefined, { tsConfig: extractTsConfig('tsconfig.json') });
const { violations, totalCruised, totalDependenciesCruised } = output.summary;
const empty = ROOMS.filter((room) => !output.modules.some(({ source }) => source.startsWith(`${room}/`)));
for (const { rule, from, to } of violations) console.error(`${rule.name}: ${from} -> ${to}`);
if (empty.length) console.error(`nothing found to check in ${empty.join(', ')}`);
if (totalDependenciesCruised < totalCruised)
  console.error('hardly any imports were found: the check itself is broken');
console.log(
  `${totalCruised} modules and ${totalDependenciesCruised} imports checked, ${violations.length} violations`,
);
process.exit(violations.length || empty.length || totalDependenciesCruised < totalCruised ? 1 : 0);
