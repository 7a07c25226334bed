/** Mastra's client, @mastra/mcp: polling, and waits with its handler for questions. */
import { MCPClient } from '@mastra/mcp';
import { follow, given, print } from './driver.mjs';

const url = new URL(given.url);
const questions = [];

const polling = new MCPClient({ servers: { longhaul: { url } } });
const { tools, errors } = await polling.listToolsWithErrors();
const polled = await follow((tool, args) => tools[`longhaul_${tool}`].execute(args, {}));
await polling.disconnect();

const answer = async ({ params }) => {
  questions.push(params.message);
  return { action: 'accept', content: given.answer };
};
const asking = new MCPClient({ servers: { longhaul: { url, inputRequests: answer } } });
const waiting = await asking.listTools();
const waited = await waiting[`longhaul_${given.tool}`].execute({ ...given.arguments, wait: true }, {});
const protocol = asking.getServerProtocolVersions().longhaul;
await asking.disconnect();

print({
  protocol,
  tools: Object.keys(tools).map((name) => name.replace(/^longhaul_/, '')),
  errors,
  questions,
  runs: [polled, { way: 'elicitation', result: waited }],
});
