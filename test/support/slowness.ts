/**
 * How many times slower than a usual machine this one is; limits of time in tests are multiplied by it. For an emulated processor, 5 to 10.
 *
 * From $EVICTD_TEST_SLOWNESS, 1 by default.
 */
export const SLOWNESS = Math.max(1, Number(process.env.EVICTD_TEST_SLOWNESS ?? 1) || 1);
