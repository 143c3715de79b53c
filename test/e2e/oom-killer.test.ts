import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TestCgroup } from '../support/cgroup.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { evictd } from './evictd.js';
import { isV1, MIB, ON, testNode, workload, type Workload } from './node.js';
import { aWhile, until } from './wait.js';

interface Prediction {
  readonly domain: { readonly cgroup: string; readonly totalBytes: number };
  readonly conclusion: string;
  readonly notes: readonly string[];
  readonly wouldDie: readonly number[];
  readonly processes: readonly { readonly pid: number; readonly oomScore: number; readonly pointsBytes: number; readonly cgroup: string }[];
  readonly exempt: readonly { readonly pid: number; readonly reason: string }[];
  readonly workloads: readonly { readonly name: string; readonly kernelPlace: number | null; readonly remark: string | null }[];
}

interface Member {
  readonly holdsMib: number;
  readonly oomScoreAdj?: number;
  /** In a child cgroup of the member's. */
  readonly below?: true;
  /** v2: memory.oom.group. */
  readonly group?: true;
  readonly critical?: true;
}

interface Running {
  readonly cgroup: TestCgroup;
  readonly process: Workload;
}

/**
 * Memory left below the limit, and what the trigger takes: more than is left and than file pages that could be dropped,
 * less than a victim frees.
 */
const LEFT_MIB = 8;
const ASKED_MIB = 64;

/** With CAP_SYS_RESOURCE oom_score_adj may be lowered. */
const mayLower = ((BigInt(`0x${/^CapEff:\s*(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'}`) >> 24n) & 1n) === 1n;

/**
 * Starts the members and a small trigger, predicts, then lets the trigger take more memory than is left: the kernel
 * kills. Resolves when the trigger has its memory.
 */
async function outOfMemory(
  plan: Readonly<Record<string, Member>>,
): Promise<{ prediction: Prediction; running: ReadonlyMap<string, Running> }> {
  const node = testNode();
  // Swapping would delay the kill.
  if (isV1) node.write('memory.swappiness', '0');
  else if (existsSync(`${node.dir}/memory.swap.max`)) node.write('memory.swap.max', '0');
  const running = new Map<string, Running>();
  for (const [name, { holdsMib, oomScoreAdj = 0, below, group }] of Object.entries(plan)) {
    const member = node.child(name);
    const cgroup = below ? member.child('deep') : member;
    const process = await workload(cgroup, { holdsMib });
    writeFileSync(`/proc/${String(process.pid)}/oom_score_adj`, String(oomScoreAdj));
    if (group) {
      await workload(cgroup); // a second one, which is small
      cgroup.write('memory.oom.group', '1');
    }
    running.set(name, { cgroup, process });
  }
  const trigger = await workload(node.child('trigger'), { growsMib: ASKED_MIB });
  node.limit(BigInt(node.read(isV1 ? 'memory.usage_in_bytes' : 'memory.current')) + BigInt(LEFT_MIB * MIB));

  const prediction = await predict(node, plan);
  const before = resident(trigger);
  trigger.grow();
  await until('the trigger has its memory', () => !trigger.alive || resident(trigger) >= before + (ASKED_MIB - 1) * MIB);
  return { prediction, running };
}

async function predict(node: TestCgroup, plan: Readonly<Record<string, Member>>): Promise<Prediction> {
  const directory = temporaryDirectory('/dev/shm');
  const critical = Object.keys(plan).filter((name) => plan[name]?.critical);
  const config = {
    node: { cgroup: node.path },
    workloads: [{ cgroup: node.path }],
    rules: critical.map((name) => ({ match: { name }, critical: true })),
  };
  const file = join(directory, 'config.yaml');
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const { code, stdout, stderr } = await evictd('rank', '--kernel', '-o', 'json', '--config', file);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Prediction;
}

/** Bytes, without file pages, which the kernel drops first. */
function resident({ pid }: Workload): number {
  const [, kib] = /^RssAnon:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? [];
  return Number(kib ?? 0) * 1024;
}

/** Kills in this cgroup, by the counter of the kernel. */
function kills({ cgroup }: Running): number {
  const text = cgroup.read(isV1 ? 'memory.oom_control' : 'memory.events.local');
  return Number(/^oom_kill (\d+)$/m.exec(text)?.[1]);
}

describe(`the OOM killer of a memcg kills the predicted process (${ON})`, () => {
  test.each<[rule: string, plan: Record<string, Member>, victim: string, says?: (prediction: Prediction) => void]>([
    ['the largest', { small: { holdsMib: 40 }, large: { holdsMib: 140 }, middle: { holdsMib: 80 } }, 'large'],
    ['the largest, also in a child cgroup', { small: { holdsMib: 40 }, large: { holdsMib: 140, below: true } }, 'large'],
    ['the smaller one with a high oom_score_adj', { large: { holdsMib: 140 }, batch: { holdsMib: 80, oomScoreAdj: 900 } }, 'batch'],
    [
      'oom_score_adj counts in thousandths of the limit, not of the machine as in oom_score',
      // A fifth of this machine outweighs all members; a fifth of the memcg does not.
      { large: { holdsMib: 140 }, batch: { holdsMib: 40, oomScoreAdj: 200 } },
      'large',
      ({ processes: [first, second], domain }) => {
        expect(first?.oomScore).toBeLessThan(second?.oomScore ?? 0);
        expect(domain.totalBytes).toBeLessThan(512 * MIB);
      },
    ],
    [
      'a critical workload is not spared, and the prediction says so',
      { db: { holdsMib: 140, critical: true }, web: { holdsMib: 40 } },
      'db',
      ({ workloads, conclusion }) => {
        const remark = 'critical, but the kernel would kill it 1st: consider oomScoreAdj';
        expect(workloads.find(({ name }) => name === 'db')).toMatchObject({ kernelPlace: 1, remark });
        expect(conclusion).toMatch(/kills perl \(pid \d+\) of db first; evictd would evict (web|trigger)$/);
      },
    ],
  ])('%s', async (_rule, plan, victim, says) => {
    const { prediction, running } = await outOfMemory(plan);
    const predicted = running.get(victim);
    expect(prediction.wouldDie).toEqual([predicted?.process.pid]);
    says?.(prediction);
    expect(await predicted?.process.ended).toBe('SIGKILL');
    await aWhile();
    const dead = [...running].filter(([, { process }]) => !process.alive).map(([name]) => name);
    expect(dead).toEqual([victim]);
    expect([...running].map(([name, each]) => [name, kills(each)])).toEqual(
      [...running.keys()].map((name) => [name, name === victim ? 1 : 0]),
    );
    expect(prediction.notes.some((note) => note.startsWith('cgroup v1 has no memory.oom.group'))).toBe(isV1);
  });

  test.runIf(mayLower)('the next process, because one with oom_score_adj −1000 is exempt (with CAP_SYS_RESOURCE)', async () => {
    const plan = { db: { holdsMib: 140, oomScoreAdj: -1000 }, web: { holdsMib: 80 } };
    const { prediction, running } = await outOfMemory(plan);
    expect(prediction.wouldDie).toEqual([running.get('web')?.process.pid]);
    expect(prediction.exempt).toMatchObject([{ pid: running.get('db')?.process.pid, reason: 'unkillable' }]);
    expect(await running.get('web')?.process.ended).toBe('SIGKILL');
    expect(running.get('db')?.process.alive).toBe(true);
  });

  test.skipIf(isV1)('all processes of a cgroup with memory.oom.group (cgroup v2)', async () => {
    const plan = { web: { holdsMib: 40 }, large: { holdsMib: 140, group: true } } as const;
    const { prediction, running } = await outOfMemory(plan);
    expect(prediction.wouldDie).toHaveLength(2);
    expect(prediction.wouldDie).toContain(running.get('large')?.process.pid);
    expect(await running.get('large')?.process.ended).toBe('SIGKILL');
    await until('the cgroup is empty', () => running.get('large')?.cgroup.read('cgroup.procs') === '');
    expect(running.get('web')?.process.alive).toBe(true);
  });
});
