/** Documents the settings from their table. */
import { settingFlag } from './flag.js';
import { SETTING_VARIABLES } from './index.js';
import { GROUPS, SETTINGS, type Group, type SettingName } from './table.js';

const NAMES = Object.keys(SETTINGS) as SettingName[];

/** Markdown tables, one for each group. */
export function settingsTables(): string {
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
export function configSchema(): object {
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
