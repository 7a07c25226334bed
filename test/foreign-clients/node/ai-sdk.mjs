/** The AI SDK's client, @ai-sdk/mcp: polling, and waits with its handler for questions. */
import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { follow, given, print } from './driver.mjs';

const transport = { type: 'http', url: given.url };
const execution = { toolCallId: '1', messages: [] };
const questions = [];

const polling = await createMCPClient({ transport });
const tools = await polling.tools();
const envelopeOf = (result) => result.structuredContent;
const polled = await follow(async (tool, args) => envelopeOf(await tools[tool].execute(args, execution)));
await polling.close();

const asking = await createMCPClient({ transport, capabilities: { elicitation: {} } });
asking.onElicitationRequest(ElicitationRequestSchema, ({ params }) => {
  questions.push(params.message);
  return { action: 'accept', content: given.answer };
});
const { [given.tool]: tool } = await asking.tools();
const waited = await tool.execute({ ...given.arguments, wait: true }, execution);
const { protocolVersion } = asking.initializeResult;
await asking.close();

print({
  protocol: protocolVersion,
  tools: Object.keys(tools),
  questions,
  runs: [polled, { way: 'elicitation', result: envelopeOf(waited) }],
});
