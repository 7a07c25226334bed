/** How people and clients start the program: by its path, never by a name that npm looks up in a registry. */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { findConfigFile, loadSettings, settingsToEnvironment } from '../../platform/settings/index.js';
import { programCommand } from '../../platform/home/program.js';
import { STACK_MS } from '../support/limits.js';
import { stdioCommand } from '../../stack/client-instructions.js';
import { TestHome } from './cli-process.js';

jest.setTimeout(STACK_MS);

const MAIN = resolve('dist/bin/longhaul.js');
/** `npx longhaul`, `"command": "npx", "args": ["longhaul"`, ... */
const BY_NPX = /\bnpx\b(?:\W+(?!-)\w+){0,2}?\W+longhaul\b/g;
/** `npm install longhaul`, `npm exec longhaul`, ... */
const BY_NAME = /\bnpm +(?:i|install|add|exec|x|create|init)\b[^\n]*\s(?:-- )?longhaul(?:@\S*)?(?=\s|$)/gm;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-elsewhere-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The text files below a folder of the checkout. */
function filesBelow(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(md|ts|js|json|ya?ml)$/.test(name) && !name.includes('node_modules'))
    .map((name) => join(root, name));
}

test('no text of the checkout has npm look the name up in a registry', () => {
  const examples = [
    'npx --yes longhaul up',
    '"command": "npx", "args": ["longhaul", "stdio"]',
    'npm i longhaul zod',
  ];
  for (const text of examples) expect([...text.matchAll(BY_NPX), ...text.matchAll(BY_NAME)]).not.toEqual([]);
  const files = [
    'README.md',
    ...['docs', 'examples', 'bench', 'cli', 'stack', 'platform'].flatMap(filesBelow),
  ];
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    return [...text.matchAll(BY_NPX), ...text.matchAll(BY_NAME)].map(([match]) => `${path}: ${match}`);
  });
  expect(found).toEqual([]);
});

test("README's way works in the clone, without a registry", () => {
  const [, exported] = /^(export PATH=\S+)/m.exec(readFileSync('README.md', 'utf8'))!;
  // npm puts the link of this checkout there for what it runs.
  const path = process.env['PATH']!.split(delimiter).filter((entry) => !entry.endsWith('node_modules/.bin'));
  const version = execFileSync('sh', ['-c', `${exported} && longhaul --version`], {
    encoding: 'utf8',
    env: { PATH: path.join(delimiter), HOME: folder },
  });
  expect(version).toBe('0.1.0\n');
});

describe('the program names itself as this shell can run it', () => {
  test('by its path where nothing else leads to it', () => {
    expect(programCommand(folder, '', '/opt/with space/main.js')).toBe("node '/opt/with space/main.js'");
    writeFileSync(join(folder, 'longhaul'), 'another program');
    expect(programCommand(folder, folder, MAIN)).toBe(`node ${MAIN}`);
  });

  test('by the link of the project, or its name alone where PATH has it', () => {
    const bin = join(folder, 'node_modules/.bin');
    mkdirSync(bin, { recursive: true });
    symlinkSync(MAIN, join(bin, 'longhaul'));
    expect(programCommand(folder, bin, MAIN)).toBe('node_modules/.bin/longhaul');
    const path = join(folder, 'bin');
    mkdirSync(path);
    symlinkSync(MAIN, join(path, 'longhaul'));
    expect(programCommand(folder, `/none:${path}`, MAIN)).toBe('longhaul');
  });
});

test('the configuration file of a named project counts from any folder; paths in it start there, and those of flags from the working folder', async () => {
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(
    join(project, 'longhaul.config.json'),
    '{"home": "state", "dataFolders": [], "allowedHosts": ["a"]}',
  );
  const settings = await loadSettings({ project: 'project', pipelineFolders: 'mine' }, {}, folder);
  expect(settings).toMatchObject({
    project,
    home: join(project, 'state'),
    dataFolders: [],
    pipelineFolders: [join(folder, 'mine')],
    allowedHosts: ['a'],
  });
  // Processes that get settings by their environment read the same, whatever file they find.
  const passed = settingsToEnvironment({ ...settings, allowedHosts: [] });
  expect(await loadSettings({}, passed, '/')).toEqual({ ...settings, allowedHosts: [] });
  writeFileSync(join(project, 'longhaul.config.js'), 'export default {}');
  expect(() => findConfigFile('project', folder)).toThrow('more than one configuration file');
});

test('a client starts stdio with the project, and with flags for what its file does not set', async () => {
  const settings = await loadSettings({ home: '/srv/home', mailbox: 'true' }, {}, resolve('.'));
  expect((await stdioCommand(settings, {})).slice(2)).toEqual([
    'stdio',
    '--home',
    '/srv/home',
    '--project',
    resolve('.'),
    '--mailbox',
    'true',
  ]);
  const withKeys = await loadSettings({ authentication: 'keys' }, {}, resolve('.'));
  expect((await stdioCommand(withKeys, {})).slice(2)).toEqual([
    'stdio',
    '--project',
    resolve('.'),
    '--authentication',
    'keys',
  ]);
});

test('what `longhaul up` prints for clients over stdio works as it stands, from an empty folder', async () => {
  const home = await TestHome.create();
  try {
    writeFileSync(join(home.path, 'longhaul.config.json'), '{"pipelineFolders": ["flows"]}');
    mkdirSync(join(home.path, 'flows'));
    writeFileSync(
      join(home.path, 'flows/one_step.yml'),
      'description: One step.\njobs: { a: { steps: [{ run: "true" }] } }\n',
    );
    const up = await home.up();
    const printed = up.stdout();
    expect(printed).toContain('one_step');
    const [, line] = /claude mcp add longhaul -- (.+)$/m.exec(printed)!;
    const [, json] = /as JSON +(\{.*\})$/m.exec(printed)!;
    const { command, args } = JSON.parse(json!).mcpServers.longhaul as { command: string; args: string[] };
    const tools = /Tools: +(.+)/.exec(printed)![1]!.split(', ');
    for (const [program, words] of [
      ['sh', ['-c', `exec ${line}`]],
      [command, args],
    ] as const) {
      const transport = new StdioClientTransport({
        command: program,
        args: [...words],
        cwd: folder,
        env: { PATH: process.env['PATH']!, HOME: folder },
        stderr: 'ignore',
      });
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(transport);
      const listed = (await client.listTools()).tools.map(({ name }) => name);
      await client.close();
      expect(listed).toEqual(expect.arrayContaining(tools));
    }
  } finally {
    await home.remove();
  }
});
