import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { openCgroupEvictor } from '../../src/evict/cgroup/cgroup-evictor.js';
import { readHierarchies } from '../../src/host/linux/cgroup/hierarchies.js';
import { native } from '../../src/native/index.js';
import { workload } from '../core/support.js';
import { testCgroup, type TestCgroup } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';
import { atMost, ms, type Bench, type Benchmark, type Figure, type Result } from './benchmark.js';
import { compile } from './c-program.js';
import { Distribution } from './distribution.js';

const PROCESSES = 50;
const ROUNDS = 30;

const hierarchies = readHierarchies();
const isV1 = hierarchies.memory?.version === 1;

/**
 * Empty readings in a row that mean the end: on v1 a process can move between two cgroups during a reading, so evictd
 * needs two; on v2 cgroup.events needs one. The C program reads as often.
 */
const EMPTY = isV1 ? 2 : 1;

/** A cgroup of fifty processes: from the kill to the last end, compared with a minimal C program. */
export const kill: Benchmark = {
  name: 'kill',
  what: `kill of a cgroup with ${String(PROCESSES)} processes → all gone`,
  run: async (bench: Bench): Promise<Result> => {
    const program = compile(bench, 'kill');
    const inC = (by: 'signal' | 'unified', cgroup: string): number =>
      Number(execFileSync(program, [by, cgroup, String(EMPTY)], { encoding: 'utf8' })) / 1e6;

    const ways: [
      name: string,
      here: (victim: TestCgroup, unified: string) => number,
      inC: (victim: TestCgroup, unified: string) => number,
    ][] = [];
    if (isV1) ways.push(['v1, signals', killed, ({ dir }) => inC('signal', dir)]);
    // Only of the addon: evictd kills this way only if processes survive signals.
    if (isV1 && hierarchies.unified)
      ways.push(['hybrid, cgroup.kill by the addon', (_victim, dir) => killedAtOnce(dir), (_victim, dir) => inC('unified', dir)]);
    if (!isV1) ways.push(['v2, cgroup.kill', killed, ({ dir }) => inC('unified', dir)]);
    const figures: Figure[] = [];
    for (const [name, here, there] of ways) {
      const [ours, theirs]: [number[], number[]] = [[], []];
      for (let round = 0; round < ROUNDS; round += 1) {
        ours.push(await withVictim(here));
        theirs.push(await withVictim(there));
      }
      const [evictd, c] = [new Distribution(ours), new Distribution(theirs)];
      figures.push(
        { what: `${name}: evictd`, unit: 'ms', measured: evictd },
        { what: `${name}: C`, unit: 'ms', measured: c },
        { what: `${name}: evictd ÷ C`, unit: '×', measured: evictd.median / c.median, ...atMost(2) },
      );
    }
    return {
      figures,
      notes: [
        `both open everything in that time, and read until it is empty ${EMPTY === 2 ? 'twice' : 'once'}, without a pause; they alternate`,
      ],
    };
  },
};

/** As in the monitor: SIGKILL until no process is left. */
function killed({ dir, path }: TestCgroup): number {
  const id = statSync(dir, { bigint: true }).ino;
  const evictor = openCgroupEvictorOnce();
  const doomed = workload(path.slice(1), { path, startOrder: id });
  const fromNs = process.hrtime.bigint();
  const victim = evictor.begin(doomed);
  victim.kill();
  while (victim.read().processes > 0);
  const took = ms(fromNs, process.hrtime.bigint());
  victim.close();
  return took;
}

function killedAtOnce(dir: string): number {
  const fromNs = process.hrtime.bigint();
  const handle = new native.CgroupHandle(dir);
  handle.kill();
  for (let empty = 0; empty < EMPTY;) empty = handle.processes().length > 0 ? 0 : empty + 1;
  const took = ms(fromNs, process.hrtime.bigint());
  handle.close();
  return took;
}

let evictor: ReturnType<typeof openCgroupEvictor> | undefined;
function openCgroupEvictorOnce(): ReturnType<typeof openCgroupEvictor> {
  return (evictor ??= openCgroupEvictor(native, hierarchies));
}

async function withVictim(end: (victim: TestCgroup, unified: string) => number): Promise<number> {
  const victim = testCgroup();
  const unified = `${hierarchies.unified?.mountPoint ?? ''}/${basename(victim.dir)}`;
  const isHybrid = isV1 && hierarchies.unified !== undefined;
  if (isHybrid) mkdirSync(unified);
  try {
    const join = isHybrid ? `echo $$ > ${unified}/cgroup.procs; ` : '';
    await victim.spawn('/bin/sh', [
      '-c',
      `${join}i=1; while [ $i -lt ${String(PROCESSES)} ]; do sleep 600 & i=$((i + 1)); done; exec sleep 600`,
    ]);
    await eventually('all processes run', () => sleeping(victim.dir) === PROCESSES);
    return end(victim, unified);
  } finally {
    await victim.cleanup();
    if (isHybrid) await eventually('the cgroup is empty', () => removed(unified));
  }
}

/** Processes after their exec, without shells before it. */
function sleeping(dir: string): number {
  const pids = readFileSync(`${dir}/cgroup.procs`, 'utf8').split('\n').filter(Boolean);
  return pids.filter((pid) => existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n').length;
}

function removed(dir: string): boolean {
  try {
    rmdirSync(dir);
    return true;
  } catch {
    return false;
  }
}
