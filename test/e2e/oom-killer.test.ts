import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { TestCgroup } from '../support/cgroup.js';
import { evictd, scratchDirectory } from './evictd.js';
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
  /** A cgroup of its own below the member's. */
  readonly below?: true;
  /** v2: memory.oom.group. */
  readonly group?: true;
  readonly critical?: true;
}

interface Running {
  readonly cgroup: TestCgroup;
  readonly process: Workload;
}

/** What is left below the limit, and what the trigger asks for: more than that and the file pages that could be dropped, less than a victim gives back. */
const LEFT_MIB = 8;
const ASKED_MIB = 64;

/** CAP_SYS_RESOURCE: oom_score_adj may be lowered. */
const mayLower = ((BigInt(`0x${/^CapEff:\s*(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'}`) >> 24n) & 1n) === 1n;

/**
 * Members as they were asked for and a small one that asks for more than is left; what evictd predicts; then it is asked for, and the kernel kills.
 * Resolves when the trigger has what it asked for.
 */
async function outOfMemory(
  plan: Readonly<Record<string, Member>>,
): Promise<{ prediction: Prediction; running: ReadonlyMap<string, Running> }> {
  const node = testNode();
  // What could be swapped out instead would put it off.
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
  await until('the trigger has what it asked for', () => !trigger.alive || resident(trigger) >= before + (ASKED_MIB - 1) * MIB);
  return { prediction, running };
}

async function predict(node: TestCgroup, plan: Readonly<Record<string, Member>>): Promise<Prediction> {
  const directory = scratchDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true }));
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

/** Bytes; not what is mapped from files, which the kernel drops first. */
function resident({ pid }: Workload): number {
  const [, kib] = /^RssAnon:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? [];
  return Number(kib ?? 0) * 1024;
}

/** The kernel's own count of whom it killed in this cgroup. */
function kills({ cgroup }: Running): number {
  const text = cgroup.read(isV1 ? 'memory.oom_control' : 'memory.events.local');
  return Number(/^oom_kill (\d+)$/m.exec(text)?.[1]);
}

describe(`out of memory within a memcg, the predicted process dies (${ON})`, () => {
  test.each<[rule: string, plan: Record<string, Member>, victim: string, says?: (prediction: Prediction) => void]>([
    ['the largest dies', { small: { holdsMib: 40 }, large: { holdsMib: 140 }, middle: { holdsMib: 80 } }, 'large'],
    ['one further below is looked at, too', { small: { holdsMib: 40 }, large: { holdsMib: 140, below: true } }, 'large'],
    ['a smaller one with a high oom_score_adj dies', { large: { holdsMib: 140 }, batch: { holdsMib: 80, oomScoreAdj: 900 } }, 'batch'],
    [
      'oom_score_adj is parts of the limit, while oom_score is about the machine',
      // A fifth of this machine would outweigh everything here; a fifth of the memcg does not.
      { large: { holdsMib: 140 }, batch: { holdsMib: 40, oomScoreAdj: 200 } },
      'large',
      ({ processes: [first, second], domain }) => {
        expect(first?.oomScore).toBeLessThan(second?.oomScore ?? 0);
        expect(domain.totalBytes).toBeLessThan(512 * MIB);
      },
    ],
    [
      'a critical one is not spared, and that is said beforehand',
      { db: { holdsMib: 140, critical: true }, web: { holdsMib: 40 } },
      'db',
      ({ workloads, conclusion }) => {
        const remark = 'critical, but the kernel would kill it 1st: consider oomScoreAdj';
        expect(workloads.find(({ name }) => name === 'db')).toMatchObject({ kernelPlace: 1, remark });
        expect(conclusion).toMatch(/would kill perl \(pid \d+\) of db first; evictd would evict (web|trigger)$/);
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

  test.runIf(mayLower)('at oom_score_adj −1000 it is exempt, and the next one dies (tried where there is CAP_SYS_RESOURCE)', async () => {
    const plan = { db: { holdsMib: 140, oomScoreAdj: -1000 }, web: { holdsMib: 80 } };
    const { prediction, running } = await outOfMemory(plan);
    expect(prediction.wouldDie).toEqual([running.get('web')?.process.pid]);
    expect(prediction.exempt).toMatchObject([{ pid: running.get('db')?.process.pid, reason: 'unkillable' }]);
    expect(await running.get('web')?.process.ended).toBe('SIGKILL');
    expect(running.get('db')?.process.alive).toBe(true);
  });

  test.skipIf(isV1)('memory.oom.group: all of the cgroup die together (tried on v2)', async () => {
    const plan = { web: { holdsMib: 40 }, large: { holdsMib: 140, group: true } } as const;
    const { prediction, running } = await outOfMemory(plan);
    expect(prediction.wouldDie).toHaveLength(2);
    expect(prediction.wouldDie).toContain(running.get('large')?.process.pid);
    expect(await running.get('large')?.process.ended).toBe('SIGKILL');
    await until('nobody is left in it', () => running.get('large')?.cgroup.read('cgroup.procs') === '');
    expect(running.get('web')?.process.alive).toBe(true);
  });
});
