/** What several of these tools take. */
import { z } from 'zod';

export const token = z.string().min(1).max(1000).describe('Token of the operation: what its start gave.');
