/** Renders resource links in the form that a session's client supports. */
import { linkTransform } from '../shared/links-as-text.js';
import type { LegacyContext } from './context.js';
import { featuresOf, type Session } from './session.js';

export function linkTransformOf(
  { serving }: LegacyContext,
  { clientName, version }: Session,
): ReturnType<typeof linkTransform> {
  return linkTransform(serving.resourceLinks, clientName, featuresOf(version).resourceLinks);
}
