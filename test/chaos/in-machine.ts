import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, PROJECT } from '../vm/bundles.js';

const TIME_LIMIT_S = 4 * 3600;

/** Runs this program in a virtual machine (test/vm/boot) with the same arguments. Resolves with its exit status. */
export async function runInMachine(cgroup: string, args: readonly string[]): Promise<number> {
  const out = join('build/chaos', cgroup);
  const bundles = join('build/chaos', `program-${cgroup}`);
  mkdirSync(out, { recursive: true });
  await bundle(bundles, ['test/chaos/run.ts']);
  const machine = ['--cgroup', cgroup, '--out', out, '--time-limit', String(TIME_LIMIT_S)];
  const environment = { EVICTD_VM_SUITE: 'chaos', EVICTD_TEST_SLOWNESS: process.env.EVICTD_TEST_SLOWNESS ?? '5' };
  const boot = spawn(
    'test/vm/boot',
    [
      ...machine,
      ...Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ...['node', join(PROJECT, bundles, 'test/chaos/run.js'), '--out=/out'],
      ...args.filter((arg) => !arg.startsWith('--machine')),
    ],
    { stdio: 'inherit' },
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => boot.kill(signal));
  const [status] = (await once(boot, 'exit')) as [number | null];
  return status ?? 1;
}
