export { nap as short_nap } from './nap.js';
