/** The settings' documents are those of their table. `LONGHAUL_RECORD=1` writes them again. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { format, resolveConfig } from 'prettier';
import { settingFlag } from '../../platform/settings/flag.js';
import { SETTING_VARIABLES } from '../../platform/settings/index.js';
import { GROUPS, SETTINGS, type Group, type SettingName } from '../../platform/settings/table.js';

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

const NAMES = Object.keys(SETTINGS) as SettingName[];

/** Markdown tables, one for each group. */
function settingsTables(): string {
  const sections = (Object.keys(GROUPS) as Group[]).map((group) => {
    const rows = NAMES.filter((name) => SETTINGS[name].group === group).map((name) => {
      const { type, doc, default: fallback } = SETTINGS[name];
      const names = [`${settingFlag(name)} ${type.placeholder}`, SETTING_VARIABLES[name], name];
      const cells = [names.map((each) => `\`${each}\``).join('<br>'), fallback.text, doc];
      return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
    });
    return [
      `## ${GROUPS[group]}`,
      '',
      '| flag, variable, key | default | what it does |',
      '| --- | --- | --- |',
      ...rows,
    ].join('\n');
  });
  return sections.join('\n\n');
}

/** JSON Schema (2020-12) of `longhaul.config.json`. */
function configSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'longhaul.config.json',
    type: 'object',
    additionalProperties: false,
    properties: {
      $schema: { type: 'string' },
      ...Object.fromEntries(
        NAMES.map((name) => {
          const { type, doc, default: fallback } = SETTINGS[name];
          return [name, { ...type.schema, description: `${doc} Default: ${fallback.text}.` }];
        }),
      ),
    },
  };
}
