/** `npm run layers`: checks the imports of every room, and that there is something to check in each. */
import { createRequire } from 'node:module';
import { cruise } from 'dependency-cruiser';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const { rooms, options, ...ruleSet } = createRequire(import.meta.url)('../.dependency-cruiser.cjs');
const { output } = await cruise(rooms, { ...options, ruleSet, validate: true }, undefined, {
  tsConfig: extractTsConfig('tsconfig.json'),
});
const { violations, totalCruised, totalDependenciesCruised } = output.summary;
const empty = rooms.filter((room) => !output.modules.some(({ source }) => source.startsWith(`${room}/`)));
for (const { rule, from, to } of violations) console.error(`${rule.name}: ${from} -> ${to}`);
if (empty.length) console.error(`no module found in ${empty.join(', ')}`);
if (totalDependenciesCruised < totalCruised)
  console.error('fewer imports than modules were found: the check itself is broken');
console.log(
  `${totalCruised} modules and ${totalDependenciesCruised} imports checked, ${violations.length} violations`,
);
process.exit(violations.length || empty.length || totalDependenciesCruised < totalCruised ? 1 : 0);
