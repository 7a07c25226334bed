/** Builds Temporal's production server and its SQL tool, unless they are there: alone, since that takes all cores for minutes. */
import { preparePrograms } from './server.js';

await preparePrograms();
