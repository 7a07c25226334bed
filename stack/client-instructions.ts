/** Instructions for connecting clients to this installation, printed by `longhaul up`. */
import { parse } from 'node:path';
import { loadSettings, SETTING_VARIABLES, settingsToEnvironment } from '../platform/settings/index.js';
import { settingFlag } from '../platform/settings/flag.js';
import type { SettingName, Settings } from '../platform/settings/index.js';
import { PROGRAM_PATH, programCommand, shellWord } from '../platform/home/program.js';
import { usesExternalTemporal } from '../platform/temporal/address.js';

/**
 * Command that starts `longhaul stdio` for this stack from any folder, with a flag for each setting that the project's
 * configuration file doesn't set.
 *
 * @param environment the client must set the same TEMPORAL_ variables, because some defaults depend on them
 */
export async function stdioCommand(
  settings: Settings,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string[]> {
  const { project } = settings;
  const temporal = Object.entries(environment).filter(([name]) => name.startsWith('TEMPORAL_'));
  const passed = Object.fromEntries(temporal);
  const defaultsFor = async (flags: Partial<Record<SettingName, unknown>>) =>
    settingsToEnvironment(await loadSettings({ project, ...flags }, passed, parse(project).root));
  const { home, authentication } = SETTING_VARIABLES;
  // Other defaults depend on these.
  const deciding = { home: settings.home, authentication: settings.authentication };
  const own = await defaultsFor({});
  const byDefault = {
    ...(await defaultsFor(deciding)),
    [home]: own[home],
    [authentication]: own[authentication],
  };
  const wanted = settingsToEnvironment(settings);
  const flags = (Object.keys(SETTING_VARIABLES) as SettingName[]).flatMap((name) => {
    const value = wanted[SETTING_VARIABLES[name]];
    const isImplied = value === undefined || value === byDefault[SETTING_VARIABLES[name]];
    return name !== 'project' && isImplied ? [] : [settingFlag(name), value!];
  });
  return [process.execPath, PROGRAM_PATH, 'stdio', ...flags];
}

/** Commands that add the server to clients, over HTTP and over stdio. */
export async function clientInstructions(url: string, settings: Settings): Promise<string[]> {
  const vsCode = JSON.stringify({ name: 'longhaul', type: 'http', url });
  const cursor = JSON.stringify({ mcpServers: { longhaul: { url } } });
  const [command, ...args] = await stdioCommand(settings);
  const stdio = [command!, ...args].map(shellWord).join(' ');
  return [
    'Add it to a client:',
    `  Claude Code   claude mcp add --transport http longhaul ${url}`,
    `  VS Code       code --add-mcp '${vsCode}'`,
    `  Cursor        in ~/.cursor/mcp.json: ${cursor}`,
    '',
    `Or over stdio, which starts the stack if none runs${usesExternalTemporal() ? '; set the same TEMPORAL_ variables there' : ''}:`,
    `  Claude Code   claude mcp add longhaul -- ${stdio}`,
    `  as JSON       ${JSON.stringify({ mcpServers: { longhaul: { command, args } } })}`,
    ...(settings.authentication.includes('keys')
      ? [
          '',
          `With an API key (${programCommand()} keys add NAME): over HTTP in the header Authorization: Bearer KEY, over stdio in the variable LONGHAUL_API_KEY.`,
        ]
      : []),
  ];
}
