/** Methods that all revisions answer alike: lists of tools, their documentation, resources, and the lack of prompts. Also their spans. */
import { z } from 'zod';
import type { Tool } from '../../operations/tool/index.js';
import { unknownTool } from '../../platform/project/tools.js';
import { NO_PROMPTS, unknownPrompt } from '../call/identity.js';
import { assertNoCursor, parseParams } from '../call/params.js';
import { isListed, selectListProtocol, type CallProtocol, type Client } from '../call/select-protocol.js';
import type { RequestCancellation, Serving } from '../call/serving.js';
import { traceRequest, type RequestFailure } from '../call/trace-request.js';
import type { Guard } from '../guard.js';
import { readResource, RESOURCE_LIMIT_BYTES, resourceTemplates } from '../links/resources.js';
import {
  problemsMeta,
  shortTool,
  toolDocumentation,
  type DocumentTool,
  type ListedTool,
} from '../listed-tools/listed-tool.js';
import { builtinToolDocumentation, renderBuiltinTool } from '../plain/builtin-tool.js';
import { builtinTools } from '../plain/builtin-tools.js';
import { documentPlainTool, listPlainTool } from '../plain/list.js';
import { documentAsyncTool, listAsyncTool } from '../sep-1391/list.js';
import { documentTwoStageTool, listTwoStageTool } from '../two-stage/list.js';

/** How a protocol lists a tool whose calls it follows, and its part of the tool's documentation. */
export interface ToolListing {
  list: (tool: Tool, cancelledBy: RequestCancellation) => ListedTool;
  document: DocumentTool;
}

const PLAIN: ToolListing = { list: listPlainTool, document: documentPlainTool };

/** Who asks for tools. */
export interface Viewer {
  client: Client;
  cancelledBy: RequestCancellation;
  /** For clients whose calls become tasks. */
  tasks?: ToolListing;
}

function listingFor({ client, tasks = PLAIN }: Viewer): ToolListing {
  const listings: Record<CallProtocol, ToolListing> = {
    operation: { list: listAsyncTool, document: documentAsyncTool },
    'two-stage': { list: listTwoStageTool, document: documentTwoStageTool },
    task: tasks,
    plain: PLAIN,
  };
  return listings[selectListProtocol(client)];
}

/** The project's tools, then Longhaul's own. Unlisted tools can still be called. */
export function listTools(engine: Guard, viewer: Viewer): ListedTool[] {
  const { client, cancelledBy } = viewer;
  const { list } = listingFor(viewer);
  const isShort = ({ taskSupport }: Tool) => taskSupport === 'forbidden';
  // Calls of these tools always answer with the result.
  const sync = (tool: ListedTool): ListedTool =>
    selectListProtocol(client) === 'operation' ? { ...tool, invocationMode: 'sync' } : tool;
  const listed = engine.tools.map((tool) => {
    if (!isListed(tool, client)) return [];
    return [isShort(tool) ? sync(shortTool(tool)) : list(tool, cancelledBy)];
  });
  return [...listed.flat(), ...[...builtinTools(engine).values()].map(renderBuiltinTool).map(sync)];
}

export function listedNames(engine: Guard, viewer: Viewer): string[] {
  return listTools(engine, viewer).map(({ name }) => name);
}

/** The whole documentation of a listed tool, whether Longhaul's own or a project's. @throws LonghaulError `unknown_tool` */
function documentationOf(engine: Guard, name: string, viewer: Viewer): string {
  const own = builtinTools(engine).get(name);
  if (own) return builtinToolDocumentation(own);
  const tool: Tool = engine.tool(name, () => listedNames(engine, viewer));
  if (!isListed(tool, viewer.client)) throw unknownTool(name, listedNames(engine, viewer));
  return toolDocumentation(tool, listingFor(viewer).document, viewer.cancelledBy);
}

type Params = Record<string, unknown>;

/** @param viewerOf who sends the request. @returns handlers by method. They throw LonghaulErrors too */
export function sharedMethods<Request>(
  engine: Guard,
  transport: Serving['transport'],
  viewerOf: (request: Request) => Viewer,
) {
  const page =
    (read: (request: Request) => object | Promise<object>) => async (params: Params, request: Request) => {
      assertNoCursor(params);
      return read(request);
    };
  return {
    'tools/list': page(async (request) => {
      await engine.tools.settled();
      return { tools: listTools(engine, viewerOf(request)), ...problemsMeta(engine) };
    }),
    'resources/list': page(() => ({ resources: [] })),
    'resources/templates/list': page(() => ({ resourceTemplates })),
    'resources/read': async (params: Params, request: Request) => {
      const { uri } = parseParams(z.looseObject({ uri: z.string() }), params);
      return readResource(engine, uri, RESOURCE_LIMIT_BYTES[transport], (tool) =>
        documentationOf(engine, tool, viewerOf(request)),
      );
    },
    'prompts/list': page(() => NO_PROMPTS),
    'prompts/get': async ({ name }: Params) => {
      throw unknownPrompt(name);
    },
  };
}

/** The fields of a JSON-RPC request that its span has. */
interface Message {
  method: string;
  id: string | number | undefined;
  params?: unknown;
}

/** {@link traceRequest} for the caller of a revision. Names a called tool only if the caller has it: other names are the client's own text. */
export function traceMessage<Response extends object>(
  { engine, serving, revision }: { engine: Guard; serving: Serving; revision: string },
  { method, id, params }: Message,
  handle: () => Promise<Response>,
  failureOf?: (response: Response) => RequestFailure | undefined,
): Promise<Response> {
  const { name, _meta: meta } = (params ?? {}) as { name?: unknown; _meta?: Record<string, unknown> };
  const isKnown = (tool: unknown): tool is string =>
    typeof tool === 'string' && (builtinTools(engine).has(tool) || engine.tools.get(tool) !== undefined);
  const tool = method === 'tools/call' && isKnown(name) ? name : undefined;
  const { principal } = engine;
  const { transport, logger } = serving;
  return traceRequest({ method, id, meta, tool, revision, transport, principal }, logger, handle, failureOf);
}
