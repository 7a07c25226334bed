/** Starts the codemod. Only its own files are compiled: the type checker is loaded as it is. */
import { createJiti } from 'jiti';

await createJiti(import.meta.url, { nativeModules: ['ts-morph'] }).import('./main.ts');
