import { setTimeout as pause } from 'node:timers/promises';
import { native, type OnWake, type Watch } from '../../src/native/index.js';
import { memoryController, testCgroup } from '../support/cgroup.js';
import type { Bench, Benchmark, Figure, Result } from './benchmark.js';
import { Distribution } from './distribution.js';

const ROUNDS = 50;
/** By then the armer has closed everything of earlier rounds: with more than 64 pending, close() waits. */
const DRAINED_MS = 2_000;

/** Cost of arming and disarming for JavaScript, and the time until a v1 threshold is armed: the armer waits for RCU. */
export const arming: Benchmark = {
  name: 'arming',
  what: 'arming and disarming notifiers',
  run: async (bench: Bench): Promise<Result> => {
    const cgroup = testCgroup();
    bench.cleanup(() => cgroup.cleanup());
    const pressure = { kind: 'some', stallUs: 200_000, windowUs: 2_000_000 } as const;
    const figures = measure('PSI trigger', () => new native.PsiTrigger('/proc/pressure/memory', pressure, () => undefined));
    const threshold = (onWake: OnWake) => new native.MemcgThreshold(cgroup.dir, 1n << 28n, onWake);
    if (memoryController()?.version === 1) {
      await pause(DRAINED_MS);
      figures.unshift(...measure('v1 threshold', () => threshold(() => undefined)), await measureStanding(threshold));
    }
    return {
      figures,
      notes: ['the kernel waits for an RCU grace period when a v1 threshold is armed or a PSI trigger is closed: the armer’s thread does'],
    };
  },
};

function measure(what: string, arm: () => { close(): void }): Figure[] {
  const [armed, closed]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = process.hrtime.bigint();
    const watch = arm();
    const between = process.hrtime.bigint();
    watch.close();
    armed.push(Number(between - from) / 1e6);
    closed.push(Number(process.hrtime.bigint() - between) / 1e6);
  }
  return [
    { what: `${what}, armed`, unit: 'ms', measured: new Distribution(armed) },
    { what: `${what}, closed`, unit: 'ms', measured: new Distribution(closed) },
  ];
}

async function measureStanding(open: (onWake: OnWake) => Watch): Promise<Figure> {
  const stood: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = process.hrtime.bigint();
    await new Promise<void>((settle) => {
      const watch = open(() => {
        stood.push(Number(process.hrtime.bigint() - from) / 1e6);
        watch.close();
        settle();
      });
    });
  }
  return { what: 'v1 threshold, asked for → it stands', unit: 'ms', measured: new Distribution(stood) };
}
