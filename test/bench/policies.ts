import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { parseCondition } from '../../src/core/condition/parse-condition.js';
import { stepPolicies } from '../../src/core/ladder/policy-step.js';
import { initialState } from '../../src/core/decide/state.js';
import type { ConfiguredPolicy } from '../../src/core/policy/configured-policy.js';
import type { PolicyReadings } from '../../src/core/policy/scope-reading.js';
import type { Candidates } from '../../src/core/workload/workload.js';
import { PolicyReader } from '../../src/features/policy/policy-reader.js';
import { readHierarchies } from '../../src/host/linux/cgroup/hierarchies.js';
import { native } from '../../src/native/index.js';
import { policy } from '../core/support.js';
import { testCgroup } from '../support/cgroup.js';
import { atLeast, atMost, type Bench, type Benchmark, type Result } from './benchmark.js';
import { Distribution, ratios } from './distribution.js';

const POLICIES = 100;
const CGROUPS = 300;
const ROUNDS = 200;
const WARM_UP = 20;
const SECOND = 1_000_000_000n;

/** One pass for all policies, and the same files by fs of Node, alternately. As in evictd without V8's optimising compiler. */
export const policies: Benchmark = {
  name: 'policies',
  what: `what ${String(POLICIES)} policies need of ${String(CGROUPS)} cgroups`,
  run: (bench: Bench): Result => {
    setFlagsFromString('--no-opt');
    bench.cleanup(() => {
      setFlagsFromString('--opt');
    });
    const root = testCgroup();
    bench.cleanup(() => root.cleanup());
    const directories = Array.from({ length: CGROUPS }, (_, index) => root.child(`${String(index)}.service`).dir);
    const hierarchies = readHierarchies();
    const isV2 = hierarchies.memory?.version === 2;
    const configuredFor = (when: string) =>
      Array.from({ length: POLICIES }, (_, index) => policyOf(`p${String(index)}`, when, `${root.path}/${glob(index)}`));
    const open = (when: string): PolicyReader => {
      const configured = configuredFor(when);
      const reader = new PolicyReader(
        { native, hierarchies, node: undefined, requestOf: () => undefined, unitSince: () => undefined },
        configured,
      );
      bench.cleanup(() => {
        reader.close();
      });
      return reader;
    };
    const USAGE = 'memory.current > 1Gi & node.memory.pressure.some.avg10 > 10%';
    const usage = open(USAGE);
    const [mixed, ofCgroups] = [USAGE, 'memory.current > 1Gi'].map((when) => stepOf(configuredFor(when), usage)) as [Step, Step];
    const pressure = open(`memory.current > 1Gi & ${isV2 ? 'memory.pressure.full.avg10 > 10%' : 'memory.max > 1Gi'}`);
    const statistics = open('memory.anon > 1Gi');
    const WINDOWS = 'memory.growth > 1Gi over 10s | workingset_refault > 100000/s over 30s';
    const windows = stepOf(configuredFor(WINDOWS), open(WINDOWS));
    const files = directories.map((directory) => `${directory}/${isV2 ? 'memory.current' : 'memory.usage_in_bytes'}`);
    let taken = 0;
    const [byReader, byPressure, byStatistics, byReadFile] = measure([
      () => usage.read(),
      () => pressure.read(),
      () => statistics.read(),
      () => {
        for (const file of files) taken += Number(readFileSync(file, 'latin1'));
      },
    ] as const);
    const [byStep, byCgroups, byWindows] = measure([mixed, ofCgroups, windows] as const);
    const found = usage.read().scopes.get('p0')?.length;
    if (found !== CGROUPS || !(taken >= 0)) throw new Error(`${String(found)} cgroups instead of ${String(CGROUPS)}`);
    const ratio = ratios(byReadFile, byReader);
    return {
      figures: [
        { what: 'usage of each, pressure of the node', unit: 'ms', measured: new Distribution(byReader), ...atMost(1) },
        {
          what: isV2 ? 'usage and pressure of each' : 'usage and limit of each',
          unit: 'ms',
          measured: new Distribution(byPressure),
          ...atMost(1),
        },
        { what: 'the step of these policies, none is met', unit: 'ms', measured: new Distribution(byStep), ...atMost(1) },
        { what: 'the same where only the cgroups decide', unit: 'ms', measured: new Distribution(byCgroups), ...atMost(1) },
        { what: 'the same with windows of 10 and 30 s', unit: 'ms', measured: new Distribution(byWindows), ...atMost(1) },
        { what: 'memory.stat of each', unit: 'ms', measured: new Distribution(byStatistics) },
        { what: 'usage of each by fs.readFileSync', unit: 'ms', measured: new Distribution(byReadFile) },
        { what: '… by fs.readFileSync / by evictd', unit: '×', measured: ratio.ofMedians, ...atLeast(4) },
      ],
    };
  },
};

/** A tenth of the policies is about each tenth of the cgroups as well as about all. */
function glob(index: number): string {
  return index % 10 === 0 ? '*.service' : `*${String(index % 10)}.service`;
}

function policyOf(name: string, when: string, cgroup: string): ConfiguredPolicy {
  const parsed = parseCondition(when, { scope: 'cgroup', pressureWindowNs: 10n * SECOND });
  if ('problems' in parsed) throw new Error(`${when} is no condition`);
  return { name, scope: { cgroup }, when: parsed.condition, forNs: 0n, cooldownNs: 0n, then: [{ kind: 'notify' }] };
}

type Step = () => void;

/** The part of a step that is about policies, each time with other readings, two seconds later. */
function stepOf(configured: readonly ConfiguredPolicy[], reader: PolicyReader): Step {
  const readings = Array.from({ length: WARM_UP + ROUNDS }, (_, index) => at(BigInt(2 * index) * SECOND, reader.read())).reverse();
  const inForce = policy([], { policies: configured });
  const rest = { layout: 'single', observe: () => undefined, victims: new Map(), reclaimed: undefined } as const;
  let state = initialState;
  return () => {
    const input = { ...rest, nowNs: process.hrtime.bigint(), policyReadings: () => readings.pop(), candidates: () => NO_CANDIDATES };
    state = stepPolicies(inForce, { state, effects: [] }, input)?.state ?? state;
  };
}

/** Policies with the same scope share their readings, as they do in evictd. */
function at(timeNs: bigint, { node, scopes }: PolicyReadings): PolicyReadings {
  const moved = new Map([...new Set(scopes.values())].map((read) => [read, read.map((one) => ({ ...one, timeNs }))]));
  return {
    ...(node && { node: { ...node, timeNs } }),
    scopes: new Map([...scopes].map(([name, read]) => [name, moved.get(read) ?? read])),
  };
}

const NO_CANDIDATES: Candidates = { usages: [], unreadable: [], timeNs: 0n };

/** Alternately, ms a pass. */
function measure<Ways extends readonly (() => void)[]>(ways: Ways): { [way in keyof Ways]: number[] } {
  const measured = ways.map((): number[] => []);
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    ways.forEach((way, index) => {
      const from = process.hrtime.bigint();
      way();
      if (round >= 0) measured[index]?.push(Number(process.hrtime.bigint() - from) / 1e6);
    });
  }
  return measured as { [way in keyof Ways]: number[] };
}
