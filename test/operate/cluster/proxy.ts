/** nginx of Debian's package, with the configuration that `deploy/nginx` ships. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { unpackDebianPackages } from '../../support/debian-packages.js';
import { freePort } from '../../stack/cli-process.js';
import { answers, Service } from '../../support/service.js';

const TEMPLATE = 'deploy/nginx/longhaul.conf.template';
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

export interface Proxy {
  service: Service;
  port: number;
}

/** @param servers `host:port` of two servers */
export async function startProxy(folder: string, servers: readonly [string, string]): Promise<Proxy> {
  const root = await unpackDebianPackages('nginx', resolve('test/operate/cluster/debian-packages.txt'));
  const port = await freePort();
  const values: Record<string, string> = {
    LONGHAUL_SERVER_1: servers[0],
    LONGHAUL_SERVER_2: servers[1],
    LONGHAUL_PROXY_LISTEN: `127.0.0.1:${port}`,
  };
  const home = join(folder, 'nginx');
  mkdirSync(home);
  // As nginx's image does: other variables are nginx's own.
  const site = readFileSync(TEMPLATE, 'utf8').replaceAll(/\$\{(\w+)\}/g, (all, name) => values[name] ?? all);
  const configuration = join(home, 'nginx.conf');
  writeFileSync(
    configuration,
    [
      'daemon off;',
      // One process: workers would outlive a master that is killed, and keep its port.
      'master_process off;',
      ...(process.getuid?.() === 0 ? [`user ${userInfo().username};`] : []),
      `pid ${join(home, 'pid')};`,
      'error_log stderr warn;',
      'events { worker_connections 2048; }',
      'http {',
      '  access_log off;',
      ...TEMPORARY.map((name) => `  ${name}_temp_path ${join(home, name)};`),
      site,
      '}',
    ].join('\n'),
  );
  const service = await Service.start({
    name: 'nginx',
    folder,
    command: [join(root, 'usr/sbin/nginx'), '-p', home, '-e', 'stderr', '-c', configuration],
    isReady: () => answers(`http://127.0.0.1:${port}/healthz`),
  });
  return { service, port };
}
