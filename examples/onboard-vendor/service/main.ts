/** All systems in one process: `npm run service`. Settings come from the environment. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemsApi } from './api.js';
import { controlApi } from './control.js';
import { Faults } from './faults.js';
import { Store } from './store.js';

const {
  SYSTEMS_PORT = '7442',
  CONTROL_PORT = '7443',
  SYSTEMS_DATABASE = 'output/systems.db',
  CHECK_MS = '4000',
} = process.env;

async function listen(server: Server, port: string): Promise<string> {
  await once(server.listen(Number(port), '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

// Ports first: they keep a second process away from the database.
const systems = createServer();
const control = createServer();
const addresses = [await listen(systems, SYSTEMS_PORT), await listen(control, CONTROL_PORT)];
const faults = new Faults();
const store = new Store(SYSTEMS_DATABASE, Number(CHECK_MS));
systems.on('request', systemsApi(store, faults));
control.on('request', controlApi(store, faults));
console.log(`Systems: ${addresses[0]}, control: ${addresses[1]}`);

process.once('SIGTERM', () => {
  store.close();
  process.exit();
});
