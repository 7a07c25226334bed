/**
 * Installs Debian's PostgreSQL, and builds Temporal's production server and its SQL tool, unless they are there: alone, since that
 * takes all cores for minutes.
 */
import { execFileSync } from 'node:child_process';
import { findPrograms } from './postgres.js';
import { preparePrograms } from './server.js';

/** Without the cluster that the package makes and starts. */
const INSTALL = `
apt-get update
apt-get install -y postgresql-common
echo 'create_main_cluster = false' >> /etc/postgresql-common/createcluster.conf
apt-get install -y postgresql
`;

function installPostgres(): void {
  const root = process.getuid?.() === 0 ? [] : ['sudo'];
  const [command, ...args] = [...root, 'sh', '-e', '-c', INSTALL];
  execFileSync(command, args, { stdio: 'inherit' });
}

try {
  findPrograms();
} catch {
  installPostgres();
}
await preparePrograms();
