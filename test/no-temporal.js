/** Set-up of the fast tests: the Temporal that they could reach is at a port where nothing listens. */
process.env.TEMPORAL_ADDRESS = '127.0.0.1:1';
delete process.env.TEMPORAL_PROFILE;
