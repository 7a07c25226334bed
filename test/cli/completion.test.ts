/** `longhaul completion` in real shells. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually, freePort } from '../stack/cli-process.js';
import { newNamespace } from '../support/namespace.js';
import { TestStack } from '../support/test-stack.js';
import { run } from './commands.js';

let parts: TestStack;
let folder: string;
let environment: NodeJS.ProcessEnv;
beforeAll(async () => {
  // Its own namespace: tokens are offered of whatever it lists.
  parts = await TestStack.start({ TEMPORAL_NAMESPACE: await newNamespace('completion') });
  folder = mkdtempSync(join(tmpdir(), 'longhaul-completion-'));
  environment = {
    PATH: process.env['PATH'],
    HOME: folder,
    TERM: 'xterm',
    LONGHAUL_PORT: String(parts.port),
    LONGHAUL_HOME: join(folder, 'home'),
  };
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await run(parts, ['completion', shell]);
    expect(code).toBe(0);
    writeFileSync(join(folder, `completion.${shell}`), stdout);
  }
});
afterAll(async () => {
  await parts.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The values that bash has for a line, as its completion calls the function; its words are split as bash does. */
function inBash(words: string[], changes: NodeJS.ProcessEnv = {}) {
  const script = `source "$HOME/completion.bash"; COMP_WORDS=(longhaul "$@"); COMP_CWORD=$#; _longhaul; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', script, 'bash', ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...environment, ...changes },
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout.split('\n').filter(Boolean);
}

/** Waits until bash offers these values: a server that is busy for too long counts as none. */
async function offered(words: string[], values: string[]): Promise<void> {
  let found: string[] = [];
  await eventually(
    () => `${JSON.stringify(words)} offers ${JSON.stringify(values)}; it offers ${JSON.stringify(found)}`,
    () => {
      found = inBash(words);
      return JSON.stringify(found) === JSON.stringify(values);
    },
    30_000,
  );
}

/** Types into an interactive shell at a terminal, and returns the screen. */
async function typedIn(shell: string, lines: string[], shows: string): Promise<string> {
  const child = spawn('script', ['-q', '-c', `stty cols 200; exec ${shell}`, '/dev/null'], {
    cwd: folder,
    env: environment,
  });
  let [output, screen] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    // eslint-disable-next-line no-control-regex
    screen = output.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
  });
  try {
    for (const line of lines.slice(0, -1)) {
      child.stdin.write(`${line}; echo READ''Y${line.length}\n`);
      await eventually(
        () => `the shell is ready; it shows ${screen}`,
        () => screen.includes(`READY${line.length}`),
        30_000,
      );
    }
    child.stdin.write(lines.at(-1)!);
    let pressedMs = Date.now();
    await eventually(
      () => `the shell shows ${shows}; it shows ${screen}`,
      () => {
        // A server that is busy for too long counts as none: then the key is pressed again.
        if (Date.now() - pressedMs > 5_000) {
          child.stdin.write('\t');
          pressedMs = Date.now();
        }
        return screen.includes(shows);
      },
      30_000,
    );
    return screen;
  } finally {
    child.kill('SIGKILL');
  }
}

describe('bash', () => {
  test.each([
    [['wat'], ['watch']],
    [
      ['deploy', 'r'],
      ['ramp', 'retire'],
    ],
    [['deploy', 'status', ''], []],
    [
      ['list', '--sta'],
      ['--status', '--status-per-minute'],
    ],
    [['help', 'wat'], ['watch']],
    [
      ['list', '--status', 'c'],
      ['completed', 'canceled'],
    ],
    [
      ['list', '--status', '=', 'c'],
      ['completed', 'canceled'],
    ],
    [
      ['--resource-links', ''],
      ['auto', 'always', 'never'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['call', 'slow_'], ['slow_compute']],
    [['list', '--tool', 'gre'], ['greet']],
    [['call', 'slow_compute', '--se'], ['--seconds']],
    [['call', '--json', 'slow_compute', '--lab'], ['--label']],
    [['call', 'slow_compute', '--label', 'x', '--deta'], ['--detach']],
    [['call', 'no_such_tool', '--se'], []],
    [['no-such-command', ''], []],
    [['check', ''], []],
    [['--home', ''], []],
  ])('%j', async (words, values) => {
    await offered(words, values);
  });

  test('tokens are offered where they are of use, each once', async () => {
    const [open, ended] = [
      await parts.client.start('slow_compute', { seconds: 60, label: '' }),
      await parts.client.start('slow_compute', { seconds: 0, label: '' }),
    ];
    await parts.client.until(ended, 'completed');
    await eventually('both are listed', () => {
      const found = inBash(['status', '']);
      return found.includes(open) && found.includes(ended) && !inBash(['watch', '']).includes(ended);
    });
    await offered(['cancel', ''], [open]);
    await offered(['watch', open, ''], []);
    await offered(['delete', ''], [ended]);
    await offered(['status', open.slice(0, 12)], [open]);
    await run(parts, ['cancel', open]);
  });

  test('typed words are never run, and files of a folder neither', () => {
    const made = join(folder, 'made');
    writeFileSync(
      join(folder, 'longhaul.config.js'),
      `import('node:fs').then((fs) => fs.writeFileSync('${made}', ''));`,
    );
    try {
      for (const word of [`$(touch ${made})`, `\`touch ${made}\``, `; touch ${made};`])
        inBash(['call', word, '']);
      inBash(['status', '']);
      expect(existsSync(made)).toBe(false);
    } finally {
      rmSync(join(folder, 'longhaul.config.js'));
    }
  });

  test('without a server, commands are completed and nothing is printed', async () => {
    const nowhere = { LONGHAUL_PORT: String(await freePort()) };
    expect(inBash(['wat'], nowhere)).toEqual(['watch']);
    for (const words of [
      ['status', ''],
      ['call', ''],
      ['list', '--tool', ''],
    ])
      expect(inBash(words, nowhere)).toEqual([]);
    writeFileSync(join(folder, 'file'), '');
    expect(inBash(['status', ''], { LONGHAUL_HOME: join(folder, 'file') })).toEqual([]);
  });

  test('a server that does not answer leaves nothing to offer, and completion ends', async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
    const { port } = server.address() as { port: number };
    const unanswered = { LONGHAUL_PORT: String(port) };
    try {
      expect(inBash(['status', ''], unanswered)).toEqual([]);
      expect(inBash(['wat'], unanswered)).toEqual(['watch']);
    } finally {
      server.close();
    }
  });

  test('at a terminal, Tab completes a command and a file', async () => {
    mkdirSync(join(folder, 'pipelines-here'));
    const source = `source "$HOME/completion.bash"`;
    await typedIn('bash --norc --noprofile -i', [source, 'longhaul wat\t'], 'longhaul watch ');
    await typedIn('bash --norc --noprofile -i', [source, 'longhaul check pipelines-\t'], 'pipelines-here/');
  });
});

const isThere = (shell: string) => spawnSync(shell, ['--version']).status === 0;
const testIn = (shell: string) => (isThere(shell) ? test : test.skip);

testIn('zsh')(
  'zsh completes at a terminal: commands, tools with a description, values behind =',
  async () => {
    const source = 'autoload -Uz compinit; compinit -u; source "$HOME/completion.zsh"';
    await typedIn('zsh -f -i', [source, 'longhaul wat\t'], 'longhaul watch ');
    await typedIn('zsh -f -i', [source, 'longhaul call slow_\t'], 'slow_compute ');
    await typedIn('zsh -f -i', [source, 'longhaul list --status=wo\t'], '--status=working');
    const both = await typedIn('zsh -f -i', [source, 'longhaul d\t\t'], 'delete');
    expect(both).toContain('check that everything needed is in place');
  },
);

testIn('fish')('fish completes: commands, tools with a description, values behind =, files', async () => {
  const candidates = (line: string) =>
    spawnSync('fish', ['--no-config', '-c', `source "$HOME/completion.fish"; complete -C '${line}'`], {
      cwd: folder,
      encoding: 'utf8',
      env: environment,
    }).stdout;
  expect(candidates('longhaul wat')).toMatch(/^watch\twait for operations/);
  await eventually('the tool is offered', () =>
    /^greet\tGreets somebody\.\n$/.test(candidates('longhaul call gre')),
  );
  expect(candidates('longhaul list --status=wo')).toMatch(/^--status=working/);
  expect(candidates('longhaul check completion.b')).toMatch(/^completion\.bash/);
});

test('another shell is refused', async () => {
  const { code, stderr } = await run(parts, ['completion', 'csh']);
  expect(stderr).toContain('Allowed choices are bash, zsh, fish');
  expect(code).toBe(2);
});
