import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { cachedBinaryPath, findTemporalBinary, TEMPORAL_CLI_VERSION } from '../../stack/temporal/binary.js';
import type { TemporalVersion } from '../../stack/temporal/version.js';

let folder: string;
let binFolder: string;
let pathFolder: string;
const said: string[] = [];
const say = (line: string) => void said.push(line);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-binary-'));
  [binFolder, pathFolder] = [join(folder, 'bin'), join(folder, 'path')];
  mkdirSync(pathFolder);
  said.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Puts a program into place that says it carries the server of this version. */
function putTemporal(path: string, server: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho "temporal version x (Server ${server}, UI 2.42.1)"\n`);
  chmodSync(path, 0o755);
}

/** A `go` that "builds" by writing such a program to GOBIN. */
function putGo(server = '1.29.1'): void {
  const build = `#!/bin/sh\necho "$@" > ${folder}/go-arguments\nprintf '#!/bin/sh\\necho "temporal version 0 (Server ${server})"' > "$GOBIN/temporal"\n`;
  writeFileSync(join(pathFolder, 'go'), build);
  chmodSync(join(pathFolder, 'go'), 0o755);
}

const databaseOf = (madeBy: TemporalVersion) => ({ path: join(folder, 'home', 'temporal.db'), madeBy });

const noNetwork: typeof fetch = () => Promise.reject(new Error('network is closed'));

/** An official download that works, as a gzipped tar of a program. @param requested gets the addresses */
function download(server = '1.29.1', requested: string[] = []): typeof fetch {
  putTemporal(join(folder, 'made', 'temporal'), server);
  const { stdout } = spawnSync('tar', ['-czf', '-', '-C', join(folder, 'made'), 'temporal']);
  return (url) => {
    requested.push(String(url));
    return Promise.resolve(new Response(new Uint8Array(stdout)));
  };
}

/** @param server that made the database; undefined without a database @param cli its CLI, if its record names that */
const find = (get: typeof fetch, server?: string, cli?: string) =>
  findTemporalBinary(
    {
      binFolder,
      database: server === undefined ? undefined : databaseOf({ server, cli }),
      environment: { PATH: `${pathFolder}:/usr/bin:/bin` },
      fetch: get,
    },
    say,
  );

test("Longhaul's own copy comes before a temporal on PATH", async () => {
  putTemporal(cachedBinaryPath(binFolder), '1.29.1');
  putTemporal(join(pathFolder, 'temporal'), '1.31.2');
  expect((await find(noNetwork)).path).toBe(cachedBinaryPath(binFolder));
  expect(said).toEqual([]);
});

test('a temporal on PATH that is too old, or not the one that made the database, is passed over', async () => {
  putTemporal(join(pathFolder, 'temporal'), '1.24.2');
  expect((await find(download())).path).toBe(cachedBinaryPath(binFolder));
  rmSync(binFolder, { recursive: true });
  putTemporal(join(pathFolder, 'temporal'), '1.31.2');
  expect((await find(download(), '1.29.1')).path).toBe(cachedBinaryPath(binFolder));
});

test('a binary that is there and fits the database comes before the own copy that does not', async () => {
  putTemporal(cachedBinaryPath(binFolder), '1.29.1');
  putTemporal(join(pathFolder, 'temporal'), '1.30.0');
  expect((await find(noNetwork, '1.30.0')).path).toBe(join(pathFolder, 'temporal'));
});

test.each(['binFolder', 'home'])(
  'a database is used with the copy of its version in the %s',
  async (where) => {
    const copy = cachedBinaryPath(where === 'home' ? join(folder, 'home', 'bin') : binFolder, '1.6.2');
    putTemporal(copy, '1.31.2');
    putTemporal(cachedBinaryPath(binFolder), '1.29.1');
    expect((await find(noNetwork, '1.31.2', '1.6.2')).path).toBe(copy);
    expect(said).toEqual([
      expect.stringMatching(
        /made by Temporal server 1\.31\.2.*continues with .*temporal-1\.6\.2, not with server 1\.29\.1\. To move/,
      ),
    ]);
  },
);

test('a database whose version is not here gets that version by download, and else by a build', async () => {
  const requested: string[] = [];
  const copy = cachedBinaryPath(binFolder, '1.6.2');
  expect((await find(download('1.31.2', requested), '1.31.2', '1.6.2')).path).toBe(copy);
  expect(requested).toEqual([expect.stringContaining('/v1.6.2?')]);
  rmSync(binFolder, { recursive: true });
  putGo('1.31.2');
  expect((await find(noNetwork, '1.31.2', '1.6.2')).path).toBe(copy);
  expect(readFileSync(join(folder, 'go-arguments'), 'utf8')).toContain('cmd/temporal@v1.6.2');
});

test('a version that turns out to have another server does not open the database', async () => {
  const failure = find(download('1.30.0'), '1.31.2', '1.6.2');
  await expect(failure).rejects.toThrow(
    /can be had.*Nothing was changed.*download.*carries server 1\.30\.0/s,
  );
});

test.each([
  ['1.27.9', '1.3.0'],
  ['1.31.2', undefined],
])(
  'nothing is downloaded or built for a database of server %s and CLI %s: too old, or not known',
  async (server, cli) => {
    putGo();
    const requests: unknown[] = [];
    const get: typeof fetch = (url) => {
      requests.push(url);
      return Promise.reject(new Error('asked'));
    };
    await expect(find(get, server, cli)).rejects.toThrow(
      new RegExp(`temporal\\.db was made by Temporal server ${server}.*Longhaul's is server 1\\.29\\.1`),
    );
    expect({ requests, said, isBuilt: existsSync(join(folder, 'go-arguments')) }).toEqual({
      requests: [],
      said: [],
      isBuilt: false,
    });
  },
);

test('the download is kept, and announced with how long it takes', async () => {
  putGo();
  expect((await find(download())).path).toBe(cachedBinaryPath(binFolder));
  expect(said).toEqual([expect.stringMatching(/Downloading Temporal CLI .* usually under a minute/)]);
  expect((await find(noNetwork)).path).toBe(cachedBinaryPath(binFolder));
});

test('without a download it is built with Go, announced with how long it takes', async () => {
  putGo();
  expect((await find(noNetwork)).path).toBe(cachedBinaryPath(binFolder));
  expect(said[1]).toMatch(/Building .*4 to 5 minutes/);
  const goArguments = readFileSync(join(folder, 'go-arguments'), 'utf8').trim();
  expect(goArguments).toBe(`install github.com/temporalio/cli/cmd/temporal@v${TEMPORAL_CLI_VERSION}`);
});

test('when nothing works, the error lists what was tried, why it failed and what to install', async () => {
  const failure = find(() => Promise.resolve(new Response('no', { status: 403 })));
  const { message } = (await failure.catch((error: unknown) => error)) as Error;
  expect(message).toContain(`${cachedBinaryPath(binFolder)}: not found`);
  expect(message).toContain('temporal on PATH: not found');
  expect(message).toMatch(/official download .*answered 403/);
  expect(message).toMatch(/build .* with Go: Go is not on PATH/);
  expect(message).toMatch(/Install the Temporal CLI .* or Go .* or point TEMPORAL_ADDRESS/);
});
