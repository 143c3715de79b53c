import { native } from '../../src/native/index.js';
import { selectHost } from '../../src/host/select.js';
import { openWorkloads } from '../../src/workloads/cgroup/cgroup-workloads.js';
import type { Bench, Benchmark, Result } from './benchmark.js';
import { Distribution } from './distribution.js';
import { plantTree, WORKLOADS } from './tree.js';

const ROUNDS = 300;
const WARM_UP = 20;

/** The candidates of a decision: workloads with their processes, usage and protection. */
export const candidates: Benchmark = {
  name: 'candidates',
  what: `all candidates, ${String(WORKLOADS)} workloads`,
  run: async (bench: Bench): Promise<Result> => {
    const { node: cgroup } = await plantTree(bench);
    const node = selectHost().openNode({ node: { cgroup: cgroup.path }, filesystems: { nodefs: '/' } }, native);
    bench.cleanup(() => {
      node.close();
    });
    const source = openWorkloads({ workloads: [{ cgroup: cgroup.path }], rules: [] }, native, node);
    bench.cleanup(() => {
      source.close();
    });
    const measured: number[] = [];
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      const from = process.hrtime.bigint();
      const { usages } = source.candidates();
      if (round >= 0) measured.push(Number(process.hrtime.bigint() - from) / 1e6);
      if (usages.length !== WORKLOADS) throw new Error(`${String(usages.length)} candidates instead of ${String(WORKLOADS)}`);
    }
    return { figures: [{ what: 'candidates()', unit: 'ms', measured: new Distribution(measured) }] };
  },
};
