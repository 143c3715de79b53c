import { native } from '../../src/native/index.js';
import type { Bench, Benchmark, Result } from './benchmark.js';
import { Distribution } from './distribution.js';

const ROUNDS = 500;
const WARM_UP = 20;

/** From a request of filesystem statistics to the answer, by a separate thread that may hang. */
export const statfs: Benchmark = {
  name: 'statfs',
  what: 'a reading of a filesystem',
  run: async (bench: Bench): Promise<Result> => {
    const stats = new native.FilesystemStats('/');
    bench.cleanup(() => {
      stats.close();
    });
    // A pending request does not keep the process alive.
    const alive = setInterval(() => undefined, 1e6);
    bench.cleanup(() => {
      clearInterval(alive);
    });
    const measured: number[] = [];
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      const from = process.hrtime.bigint();
      await new Promise<void>((resolve) => {
        stats.request(resolve);
      });
      if (round >= 0) measured.push(Number(process.hrtime.bigint() - from) / 1e3);
    }
    return { figures: [{ what: 'request → answer', unit: 'µs', measured: new Distribution(measured) }] };
  },
};
