/** Writes the promises of test/proof.ts into test/README.md: `npm run test:promises`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { PROOF } from '../proof.js';

const PATH = 'test/README.md';
const SECTION = /(<!-- promises[^>]*-->)[\s\S]*(<!-- end of promises -->)/;

const rows = PROOF.map(({ promise, files }) => {
  const links = files.map((file) => `[\`${file}\`](${file.replace('test/', '')})`);
  return `| ${promise} | ${links.join('<br>')} |`;
});
const table = ['| promise | proved by |', '| --- | --- |', ...rows].join('\n');
const text = readFileSync(PATH, 'utf8').replace(
  SECTION,
  (_all, start, end) => `${start}\n\n${table}\n\n${end}`,
);
writeFileSync(PATH, await format(text, { ...(await resolveConfig(PATH)), parser: 'markdown' }));
