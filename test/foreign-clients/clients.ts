/** The foreign clients that are driven: one row each. docs/clients.md has the same table. */
import type { Environment } from './environments.js';

/**
 * How a client gets to the end of a job: by a revision's tasks, by a call that waits while the client's callback answers
 * the question, or by calls that follow next_action.
 */
export type Way = 'tasks' | 'elicitation' | 'polling';

export interface ForeignClient {
  /** As docs/clients.md names it. */
  name: string;
  /** Packages whose versions are reported, all pinned by the environment. */
  packages: string[];
  environment: Environment;
  /** File of the driver, in the environment's folder. */
  driver: string;
  /** Revisions that it negotiates, in the order of the driver's connections. */
  protocol: string;
  /** Actions of the driver, in this order. */
  ways: Way[];
  /** Driven in every run of the tests. */
  isSmoke?: boolean;
}

export const CLIENTS: ForeignClient[] = [
  {
    name: 'FastMCP with fastmcp-tasks',
    packages: ['fastmcp', 'fastmcp-tasks'],
    environment: 'mcp-2',
    driver: 'fastmcp_tasks_client.py',
    protocol: '2026-07-28',
    ways: ['tasks', 'tasks'],
    isSmoke: true,
  },
  {
    name: 'Go SDK',
    packages: ['github.com/modelcontextprotocol/go-sdk'],
    environment: 'go',
    driver: 'main.go',
    protocol: '2026-07-28',
    ways: ['polling', 'elicitation'],
    isSmoke: true,
  },
  {
    name: 'Python SDK 1.x',
    packages: ['mcp'],
    environment: 'mcp-1',
    driver: 'python_sdk_1.py',
    protocol: '2025-11-25',
    ways: ['polling', 'elicitation', 'tasks'],
  },
  {
    name: 'Python SDK 2.x',
    packages: ['mcp'],
    environment: 'mcp-2',
    driver: 'python_sdk_2.py',
    protocol: '2026-07-28, 2025-11-25',
    ways: ['polling', 'elicitation', 'polling', 'elicitation'],
  },
  {
    name: 'LangChain',
    packages: ['langchain-mcp-adapters', 'mcp'],
    environment: 'mcp-1',
    driver: 'langchain_adapter.py',
    protocol: '2025-11-25',
    ways: ['polling', 'elicitation'],
  },
  {
    name: 'LlamaIndex',
    packages: ['llama-index-tools-mcp', 'mcp'],
    environment: 'mcp-2',
    driver: 'llamaindex.py',
    protocol: '2025-11-25',
    ways: ['polling'],
  },
  {
    name: 'Pydantic AI',
    packages: ['pydantic-ai-slim', 'fastmcp', 'fastmcp-tasks'],
    environment: 'mcp-2',
    driver: 'pydantic_ai_client.py',
    protocol: '2026-07-28, 2025-11-25',
    ways: ['tasks', 'polling'],
  },
  {
    name: 'OpenAI Agents SDK',
    packages: ['openai-agents', 'mcp'],
    environment: 'mcp-2',
    driver: 'openai_agents.py',
    protocol: '2026-07-28',
    ways: ['polling'],
  },
  {
    name: 'AI SDK',
    packages: ['@ai-sdk/mcp'],
    environment: 'node',
    driver: 'ai-sdk.mjs',
    protocol: '2026-07-28',
    ways: ['polling', 'elicitation'],
  },
  {
    name: 'Mastra',
    packages: ['@mastra/mcp', '@mastra/core'],
    environment: 'node',
    driver: 'mastra.mjs',
    protocol: '2026-07-28',
    ways: ['polling', 'elicitation'],
  },
];
