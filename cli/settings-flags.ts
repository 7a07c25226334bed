/** Settings as flags of every command, before or after its name, and their help. */
import { Option, type Command } from 'commander';
import { settingFlag } from '../platform/settings/flag.js';
import { GROUPS, SETTINGS, type Group, type SettingName } from '../platform/settings/table.js';
import type { Settings } from '../platform/settings/index.js';

const NAMES = Object.keys(SETTINGS) as SettingName[];

/** Adds the flags to the program. `longhaul help settings` shows them. */
export function addSettingsFlags(program: Command): void {
  for (const name of NAMES)
    program.addOption(new Option(`${settingFlag(name)} ${SETTINGS[name].type.placeholder}`).hideHelp());
}

/** Help about settings, as text. @param groups Default: all */
export function settingsHelp(groups = Object.keys(GROUPS) as Group[]): string {
  const sections = groups.map((group) => {
    const lines = NAMES.filter((name) => SETTINGS[name].group === group).map((name) => {
      const { type, doc, default: fallback } = SETTINGS[name];
      return `  ${settingFlag(name)} ${type.placeholder}\n      ${doc} Default: ${fallback.text}.`;
    });
    return [`${GROUPS[group]}:`, ...lines].join('\n');
  });
  const where =
    'A setting comes from its flag, else its variable (LONGHAUL_PORT for --port), else longhaul.config.*.';
  return [...sections, where, ''].join('\n\n');
}

/** Adds a command's settings to its help. @param groups Default: all */
export function showSettings(command: Command, groups?: Group[]): void {
  command.addHelpText('after', () => `\nSettings\n\n${settingsHelp(groups)}`);
}

/** A command's settings: its flags, else the environment, else the configuration file. @throws SettingsError */
export async function settingsOf(command: Command): Promise<Settings> {
  const { loadSettings } = await import('../platform/settings/index.js');
  const given = command.optsWithGlobals<Record<string, unknown>>();
  return loadSettings(Object.fromEntries(NAMES.map((name) => [name, given[name]])));
}
