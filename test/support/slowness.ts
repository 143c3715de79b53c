/**
 * How many times slower this machine is than a usual one: a factor of time limits in tests. 5 to 10 on emulated
 * processors.
 *
 * From $EVICTD_TEST_SLOWNESS, 1 by default.
 */
export const SLOWNESS = Math.max(1, Number(process.env.EVICTD_TEST_SLOWNESS ?? 1) || 1);
