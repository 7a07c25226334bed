import { protocolError } from 'longhaul/workflow';

export async function refused() {
  throw protocolError(-32603, 'the vendor refuses');
}
