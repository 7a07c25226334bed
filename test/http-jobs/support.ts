/** Assertions for responses of the HTTP jobs API. */
import { expect } from '@jest/globals';
import type { Answer } from '../support/jobs.js';

/** Expects a complete problem document of a type. */
export function expectProblem({ status, headers, body }: Answer, type: string, wanted: number): void {
  expect({ type: body.type, status, detail: body.detail }).toEqual({
    type: `/problems/${type}`,
    status: wanted,
    detail: expect.any(String),
  });
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(body).toMatchObject({
    status: wanted,
    title: expect.any(String),
    instance: expect.any(String),
    retryable: expect.any(Boolean),
  });
}
