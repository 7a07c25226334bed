/* global WebSocket, fetch */
/**
 * A debugger for tests: attaches to a process of Node.js that waits, sets a breakpoint in the line with a text once it has stopped, and
 * prints the function in which that holds.
 *
 * Usage: node --experimental-websocket test/cli/debugger.js PORT TEXT
 */
import { setTimeout as delay } from 'node:timers/promises';

const [port, text] = process.argv.slice(2);
const socket = new WebSocket(await address());
const scripts = [];
const answers = new Map();
let nextId = 1;

const send = (method, params = {}) =>
  new Promise((resolve) => {
    const id = nextId++;
    answers.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params }));
  });

socket.addEventListener('message', async ({ data }) => {
  const { id, result, method, params } = JSON.parse(data);
  if (id) return answers.get(id)(result);
  if (method === 'Debugger.scriptParsed') scripts.push(params);
  if (method !== 'Debugger.paused') return;
  const [{ functionName }] = params.callFrames;
  if (params.hitBreakpoints?.length) {
    console.log(functionName);
    await send('Debugger.disable');
    process.exit(0);
  }
  for (const { scriptId } of scripts.filter(({ url }) => /bundle\.js$/.test(url))) {
    const { result: found } = await send('Debugger.searchInContent', { scriptId, query: text });
    for (const { lineNumber } of found)
      await send('Debugger.setBreakpoint', { location: { scriptId, lineNumber } });
  }
  await send('Debugger.resume');
});
socket.addEventListener('open', async () => {
  await send('Debugger.enable');
  await send('Runtime.runIfWaitingForDebugger');
});

async function address() {
  for (;;) {
    const listed = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => undefined);
    if (listed) return (await listed.json())[0].webSocketDebuggerUrl;
    await delay(100);
  }
}
