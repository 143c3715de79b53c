import { spawnSync } from 'node:child_process';
import { atMost, type Benchmark, type Result } from './benchmark.js';
import { Distribution, ratios } from './distribution.js';
import { EVICTD } from './evictd.js';

const PAIRS = 30;
const WARM_UP = 3;

/** Cost of `evictd check`, compared with an empty Node process. */
export const check: Benchmark = {
  name: 'check',
  what: 'wall time of `evictd check`, against `node -e 0`',
  run: (): Result => {
    const measured: { readonly checks: number[]; readonly nothings: number[] } = { checks: [], nothings: [] };
    for (let pair = -WARM_UP; pair < PAIRS; pair += 1) {
      const check = (): number => run([EVICTD, 'check'], [0, 1, 2]);
      const nothing = (): number => run(['-e', '0'], [0]);
      const [first, second] = pair % 2 === 0 ? [check(), nothing()] : [nothing(), check()];
      if (pair < 0) continue;
      measured.checks.push(pair % 2 === 0 ? first : second);
      measured.nothings.push(pair % 2 === 0 ? second : first);
    }
    const { checks, nothings } = measured;
    const ratio = ratios(checks, nothings);
    return {
      figures: [
        { what: 'evictd check', unit: 'ms', measured: new Distribution(checks) },
        { what: 'node -e 0', unit: 'ms', measured: new Distribution(nothings) },
        { what: 'evictd check / node -e 0', unit: '×', measured: ratio.ofMedians, ...atMost(1.8) },
        { what: '… median of the ratios', unit: '×', measured: ratio.medianOfPairs },
      ],
      notes: [
        'in pairs, turn and turn about, with the configuration of this machine (its defaults, where there is none)',
        ...(process.env.NODE_EXTRA_CA_CERTS === undefined ? [] : ['NODE_EXTRA_CA_CERTS is set: Node 20 reads it at every start, in both']),
      ],
    };
  },
};

/** Wall time in milliseconds, from before the start of the process to its end. */
function run(args: readonly string[], fine: readonly number[]): number {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const from = process.hrtime.bigint();
  const { status, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  const took = Number(process.hrtime.bigint() - from) / 1e6;
  if (status === null || !fine.includes(status)) throw new Error(`${args.join(' ')}: exit ${String(status)}: ${stdout}`);
  return took;
}
