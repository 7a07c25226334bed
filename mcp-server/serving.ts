/** How a process serves MCP, the same for both revisions. */
import type { ResourceLinksSetting } from './links-as-text.js';

export interface Serving {
  transport: 'http' | 'stdio';
  resourceLinks: ResourceLinksSetting;
}
