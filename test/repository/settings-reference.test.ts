/** The settings' documents are those of their table. `LONGHAUL_RECORD=1` writes them again. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { format, resolveConfig } from 'prettier';
import { configSchema, settingsTables } from '../../platform/settings/document.js';

const SECTION = /(<!-- settings -->)[\s\S]*(<!-- end of settings -->)/;

/** Formatted as the file is. */
const formatted = async (path: string, text: string) =>
  format(text, { ...(await resolveConfig(path)), filepath: path });

test.each([
  [
    'docs/settings.md',
    (text: string) =>
      text.replace(SECTION, (_all, start, end) => `${start}\n\n${settingsTables()}\n\n${end}`),
  ],
  ['docs/longhaul.config.schema.json', () => JSON.stringify(configSchema())],
])('%s is made from the table', async (path, make) => {
  const text = readFileSync(path, 'utf8');
  const expected = await formatted(path, make(text));
  if (process.env['LONGHAUL_RECORD']) writeFileSync(path, expected);
  else expect(text).toBe(expected);
});
