import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseOutputs } from '../../worker/steps/outputs.js';
import { secretsOf } from '../../worker/steps/output/secrets.js';
import { stepLogPrefix } from '../../platform/storage/keys.js';
import { stepLogText } from '../support/stored-log.js';
import { StepHome } from './steps-support.js';

let home: StepHome;

beforeEach(async () => {
  home = await StepHome.open({ inputs: { name: 'x' } });
});
afterEach(() => home.removeClean());

const inWorkspace = (path: string) => join(home.paths.workspace, path);

function write(path: string, text: string): void {
  mkdirSync(dirname(inWorkspace(path)), { recursive: true });
  writeFileSync(inWorkspace(path), text);
}

describe('what a step needs', () => {
  test('is its working directory: in the workspace, and there', async () => {
    mkdirSync(inWorkspace('src/app'), { recursive: true });
    symlinkSync(tmpdir(), inWorkspace('elsewhere'));
    symlinkSync('src/app', inWorkspace('link'));
    await home.run('pwd -P', { workingDirectory: 'link' });
    expect(home.log().trim()).toBe(inWorkspace('src/app'));
    for (const [workingDirectory, problem] of [
      ['../..', 'its working directory "../.." is outside the workspace'],
      ['/tmp', 'its working directory "/tmp" is outside the workspace'],
      ['elsewhere', 'its working directory "elsewhere" is outside the workspace'],
      [
        'nowhere',
        'its working directory "nowhere" is no folder in the workspace; an earlier step has to make it',
      ],
    ] as const)
      expect(await home.failed('echo never', { workingDirectory, step: 2 })).toMatchObject({
        type: 'StepNotStarted',
        nonRetryable: true,
        message: `step "compile" couldn't be started: ${problem}`,
      });
    expect(home.log(2)).toBe('');
  });

  test('is bash', async () => {
    const failed = await home.failed('echo never', {}, { environment: { PATH: '/nonexistent' } });
    expect(failed).toMatchObject({
      type: 'StepNotStarted',
      nonRetryable: true,
      message: `step "compile" couldn't be started: there is no bash on the worker's PATH (/nonexistent): install it`,
    });
    // Its own PATH applies to the commands that it runs, not to the bash that runs it.
    expect((await home.run('echo ok', { env: { PATH: '/nonexistent' } })).exitCode).toBe(0);
  });

  test('is its secrets', async () => {
    const environment = { ...process.env, LONGHAUL_SECRET_SHORT: 'abc' };
    expect((await home.failed('x', { secrets: ['KEY'] }, { environment })).message).toMatch(
      /^secret KEY is missing: set LONGHAUL_SECRET_KEY for the workers/,
    );
    expect(await home.failed('x', { secrets: ['SHORT'] }, { environment })).toMatchObject({
      type: 'SecretUnusable',
      nonRetryable: true,
      message:
        "secret SHORT has fewer than 4 characters, and can't be masked: set a longer LONGHAUL_SECRET_SHORT",
    });
    expect(secretsOf(['KEY'], 'host', { LONGHAUL_SECRET_KEY: 'long enough' })).toEqual({
      KEY: 'long enough',
    });
  });

  test('is an environment that the system takes', async () => {
    const failed = await home.failed('echo never', { env: { LARGE: 'x'.repeat(200_000) } });
    expect(failed).toMatchObject({ type: 'StepNotStarted', nonRetryable: true });
    expect(failed.message).toContain('its environment is too large');
    // Nothing was started: nothing is in doubt.
    expect((await home.run('echo ok', {}, { attempt: 2 })).exitCode).toBe(0);
    expect((await home.failed('x', { step: 2, env: { NUL: 'a\0b' } })).message).toContain(
      'NUL holds a NUL character',
    );
  });

  test('is its workspace and its inputs', async () => {
    rmSync(home.paths.inputs);
    expect((await home.failed('x')).message).toContain('the file of its inputs is gone or damaged');
    rmSync(home.paths.folder, { recursive: true });
    expect(await home.failed('x')).toMatchObject({ type: 'WorkspaceMissing', nonRetryable: true });
  });

  test('cannot be spoilt by variables that shells heed', async () => {
    write('spoil.sh', 'echo spoilt >&2; exit 9');
    const env = {
      BASH_ENV: inWorkspace('spoil.sh'),
      ENV: inWorkspace('spoil.sh'),
      TMOUT: '1',
      POSIXLY_CORRECT: '1',
      IFS: 'x',
    };
    const failed = await home.failed('sleep 2; echo done', { env });
    // The step's own shell heeds BASH_ENV; the launcher takes no notice.
    expect(failed.trouble).toMatchObject({ exitCode: 9, lastLines: ['spoilt'] });
    expect((await home.run('sleep 2; echo done', { step: 2, env: { ...env, BASH_ENV: '' } })).exitCode).toBe(
      0,
    );
  });
});

describe('outputs', () => {
  test('are lines, or blocks with a delimiter', () => {
    expect(parseOutputs('a=1\n\nb-c=x=y<<z\ntext<<END\none\n\n  two=2\nEND\nempty=\na=2').outputs).toEqual({
      a: '2',
      'b-c': 'x=y<<z',
      text: 'one\n\n  two=2',
      empty: '',
    });
    expect(parseOutputs('__proto__=1').outputs).toEqual(Object.fromEntries([['__proto__', '1']]));
  });

  test.each([
    ['a=1\nnonsense', 'line 2 of $LONGHAUL_OUTPUT: expected key=value or key<<DELIMITER; got "nonsense"'],
    [
      '1a=1',
      'line 1 of $LONGHAUL_OUTPUT: expected a key of letters, digits, _ and -, not beginning with a digit; got "1a"',
    ],
    ['\n\na<<END\nx', 'line 3 of $LONGHAUL_OUTPUT: the value of a has no end: no line "END" follows'],
    [
      `a=${'x'.repeat(65_537)}`,
      'line 1 of $LONGHAUL_OUTPUT: the value of a has more than 64 KiB; write an artifact',
    ],
    [
      Array.from({ length: 5 }, (_, at) => `a${at}=${'x'.repeat(60_000)}`).join('\n'),
      'line 5 of $LONGHAUL_OUTPUT: the values have more than 256 KiB together',
    ],
    [
      Array.from({ length: 201 }, (_, at) => `a${at}=`).join('\n'),
      'line 201 of $LONGHAUL_OUTPUT: there are more than 200 keys',
    ],
  ])('name the line that is wrong (%#)', (text, problem) => {
    expect(parseOutputs(text).problem).toBe(problem);
  });

  test('that are wrong fail the step for good, once it has ended well', async () => {
    expect(
      await home.failed('echo ok=1 >>"$LONGHAUL_OUTPUT"; echo nonsense >>"$LONGHAUL_OUTPUT"'),
    ).toMatchObject({
      type: 'StepFailed',
      nonRetryable: true,
      message:
        'step "compile": line 2 of $LONGHAUL_OUTPUT: expected key=value or key<<DELIMITER; got "nonsense"',
      trouble: { exitCode: 0, outputs: { ok: '1' } },
    });
    const fifo = await home.failed('rm "$LONGHAUL_OUTPUT"; mkfifo "$LONGHAUL_OUTPUT"', { step: 2 });
    expect(fifo.message).toContain('is no longer a file');
    expect(await home.run('rm "$LONGHAUL_OUTPUT"', { step: 3 })).toEqual({ exitCode: 0, outputs: {} });
  });
});

describe('a workspace', () => {
  test('is taken over with its files, once, and without its journal', async () => {
    write('kept.txt', 'kept');
    await home.run('echo first');
    const other = 'operation-2';
    const takeOver = { takeOverFrom: home.workflowId, inputs: { name: 'y' } };
    expect(await home.openWorkspace(takeOver, other)).toBe(true);
    expect(await home.openWorkspace(takeOver, other)).toBe(true);
    expect(existsSync(home.paths.folder)).toBe(false);
    await home.run('cat kept.txt; echo " $INPUT_NAME"', {}, { workflowId: other });
    expect(stepLogText(home.home, other, 'build', 1)).toBe('kept y\n');
    // A workspace that is gone can't be taken over: there is a new one.
    expect(await home.openWorkspace(takeOver, 'operation-3')).toBe(false);
    await home.run('ls -A; echo empty', {}, { workflowId: 'operation-3' });
    expect(stepLogText(home.home, 'operation-3', 'build', 1)).toBe('empty\n');
  });

  test('of a deleted operation with the same workflow ID is removed, with its journal', async () => {
    const [first, second] = [
      { createdAt: '2026-01-01T00:00:00.000Z' },
      { createdAt: '2026-01-02T00:00:00.000Z' },
    ];
    const workflowId = 'operation-again';
    const around = { workflowId };
    await home.openWorkspace(first, workflowId);
    await home.run('echo first > left.txt; ls', {}, around);
    await home.openWorkspace(first, workflowId);
    await home.run('echo not again', {}, around);
    const log = () => stepLogText(home.home, workflowId, 'build', 1);
    expect(log()).toBe('left.txt\n');
    await home.storage.removeAll(home.storage.keys(stepLogPrefix(workflowId, 'build', 1)));
    await home.openWorkspace(second, workflowId);
    await home.run('ls; echo second', {}, around);
    expect(log()).toBe('second\n');
  });

  test('has room for any workflow ID and any item', async () => {
    const workflowId = `a/../${'ü'.repeat(80)}:*`;
    await home.openWorkspace({ item: { a: [1] }, child: { job: 'each', index: 2 } }, workflowId);
    const around = { workflowId, storage: { ...home.storage, create: async () => true } };
    const done = await home.run(
      'echo "item=$LONGHAUL_ITEM_INDEX $LONGHAUL_ITEM" >>"$LONGHAUL_OUTPUT"',
      { child: { job: 'each', index: 2 } },
      around,
    );
    expect(done.outputs).toEqual({ item: '2 {"a":[1]}' });
  });
});
