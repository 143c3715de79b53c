import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TestCgroup } from '../support/cgroup.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { Evictd, evictd as command, type JournalLine } from './evictd.js';
import { ABOVE_128_MIB, guarding, isV1, MIB, ON, testNode, workload } from './node.js';
import { aWhile } from './wait.js';

/** Two loops per core: a task waits for the processor all the time. They end with the cgroup. */
async function busy(cgroup: TestCgroup): Promise<void> {
  for (let loops = 2 * availableParallelism(); loops > 0; loops--) await cgroup.spawn('/bin/sh', ['-c', 'while :; do :; done']);
}

/** No threshold but those of the list. */
const ONLY_THE_LIST = { 'memory.available': '0%' } as const;

function listing(node: TestCgroup, ...thresholds: readonly object[]): Record<string, unknown> {
  return {
    ...guarding(node, [{ match: { name: 'noise' }, critical: true }]),
    evictionHard: ONLY_THE_LIST,
    thresholds,
    pressureWindow: '2s',
    monitoringInterval: '1h', // only pressure wakes evictd
  };
}

const types = (lines: readonly JournalLine[]): string[] => lines.map(({ type }) => type);

describe(`pressure (${ON})`, () => {
  test('of the processor alone causes an alert and no eviction', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'));
    const noise = node.child('noise');
    const evictd = await new Evictd({ config: listing(node, { when: 'cpu.pressure.some>20%', kind: 'soft', for: '200ms' }) }).guarding();
    await busy(noise);
    const alert = await evictd.recorded('alert');
    expect(alert).toMatchObject({
      alert: 'alert-only',
      when: 'cpu.pressure.some>20%',
      kind: 'soft',
      operands: [{ signal: 'cpu.pressure.some', threshold: '20%', thresholdPercent: 20 }],
    });
    expect(alert.stalledPercent).toBeGreaterThan(20);
    expect(await evictd.metric('evictd_alerts_total{alert="alert-only",eviction_signal="cpu.pressure.some"}')).toBe(1);
    expect(await evictd.metric('evictd_threshold_met{when="cpu.pressure.some>20%",kind="soft"}')).toBe(1);
    expect(await evictd.metric('evictd_pressure_cpu_waiting_seconds_total')).toBeGreaterThan(0);
    expect(await evictd.metric('evictd_signal_pressure_ratio{eviction_signal="cpu.pressure.some"}')).toBeGreaterThan(0.2);
    await aWhile();
    expect(types(evictd.journal())).not.toContain('decision');
    expect(types(evictd.journal())).not.toContain('condition');
    expect(batch.alive).toBe(true);
  });

  test('joined to an amount evicts when both are met, the record has both, and a replay decides the same', async () => {
    const directory = temporaryDirectory('/dev/shm');
    mkdirSync(join(directory, 'rec'));
    const file = join(directory, 'rec/recording.gz');
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 160 });
    const noise = node.child('noise');
    await busy(noise);
    const when = `cpu.pressure.some>20% & memory.available<${ABOVE_128_MIB['memory.available']}`;
    const config = listing(node, { when, kind: 'hard' });
    const evictd = await new Evictd({ config, directory, args: ['--record', file] }).guarding();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.recorded('outcome', 'batch');
    const decision = await evictd.recorded('decision');
    expect(decision).toMatchObject({
      signal: 'memory.available',
      kind: 'hard',
      when: 'memory.available<384Mi & cpu.pressure.some>20%',
      operands: [
        { signal: 'memory.available', threshold: '384Mi', thresholdValue: 384 * MIB },
        { signal: 'cpu.pressure.some', threshold: '20%', thresholdPercent: 20 },
      ],
    });
    expect(decision.message).toMatch(/memory\.available [\d.]+MiB < 384Mi & cpu\.pressure\.some [\d.]+% > 20% \(hard\); batch uses/);
    expect((decision.operands as readonly { stalledPercent?: number }[])[1]?.stalledPercent).toBeGreaterThan(20);
    await evictd.recorded('condition');
    expect(await evictd.stop()).toBe(0);

    const { code, stdout, stderr } = await command('replay', file, '--output', 'json');
    expect(code, stderr).toBe(0);
    const [run] = (JSON.parse(stdout) as { runs: readonly { records: readonly JournalLine[]; deviations: readonly string[] }[] }).runs;
    expect(run?.deviations).toEqual([]);
    expect(run?.records.find(({ type }) => type === 'decision')).toMatchObject({ message: decision.message, operands: decision.operands });
  });

  test('that is absent keeps a joined amount from evicting', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 160 });
    const when = `memory.available<${ABOVE_128_MIB['memory.available']} & memory.pressure.full.avg300>99%`;
    // The soft threshold shows that bytes alone have been short for long; its grace period is too long for an eviction.
    const config = {
      ...listing(node, { when, kind: 'hard' }),
      evictionSoft: ABOVE_128_MIB,
      evictionSoftGracePeriod: { 'memory.available': '1h' },
    };
    const evictd = await new Evictd({ config }).guarding();
    batch.grow();
    await evictd.recorded('threshold');
    await aWhile();
    expect(types(evictd.journal())).not.toContain('decision');
    expect(batch.alive).toBe(true);
  });

  test('thresholds change by a reload, and a dry run sees pressure without a trigger', async () => {
    const node = testNode();
    const noise = node.child('noise');
    await busy(noise);
    const calm = listing(node);
    const evictd = await new Evictd({ config: calm, args: ['--dry-run'] }).guarding();
    evictd.configure(listing(node, { when: 'cpu.pressure.some>20%', kind: 'hard' }));
    evictd.child.kill('SIGHUP');
    await evictd.recorded('alert');
    expect(await evictd.metric('evictd_notifier_live{mechanism="psi_trigger"}')).toBeUndefined();
  });

  test('in check is the average of the kernel, which the output says', async () => {
    const node = testNode();
    const directory = temporaryDirectory('/dev/shm');
    const evictd = new Evictd({
      config: listing(node, { when: 'memory.pressure.full>99% & memory.available<1Mi', kind: 'hard' }),
      directory,
    });
    const text = await command('check', '--config', evictd.configFile);
    expect(text.code).toBe(0);
    expect(text.stdout).toMatch(
      /^not met: memory\.pressure\.full>99% & memory\.available<1Mi \(hard\): memory\.pressure\.full \(avg10\) /m,
    );
    expect(text.stdout).toContain('[EVICTD_CHECK_PRESSURE_AVERAGE]');
    const json = JSON.parse((await command('check', '--config', evictd.configFile, '-o', 'json')).stdout) as { thresholds: unknown };
    expect(json.thresholds).toMatchObject([{ when: 'memory.pressure.full>99% & memory.available<1Mi', met: false }]);
    const nagios = await command('check', '--config', evictd.configFile, '-o', 'nagios');
    expect(nagios.stdout).toMatch(/^OK - .*memory\.pressure\.full \(avg10\).*'memory\.pressure\.full'=[\d.]+%;;;0;100/);
    const prometheus = await command('check', '--config', evictd.configFile, '-o', 'prometheus');
    expect(prometheus.stdout).toMatch(/^evictd_threshold_met\{when="memory\.pressure\.full>99% & memory\.available<1Mi",kind="hard"\} 0$/m);
  });

  // A v1 cgroup has neither pressure files nor memory.high: stalling it would stall the machine.
  test.skipIf(isV1)('of memory: a workload that thrashes above memory.high is evicted (needs cgroup v2)', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: Infinity });
    await workload(node.child('web'), { holdsMib: 20 });
    node.write('memory.high', String(256 * MIB));
    const thrashing = { when: 'memory.pressure.full>10% & memory.available<320Mi', kind: 'soft', for: '1s' };
    const evictd = await new Evictd({ config: listing(node, thrashing) }).guarding();
    batch.grow();
    const decision = await evictd.recorded('decision');
    expect(decision).toMatchObject({ signal: 'memory.pressure.full', kind: 'soft', victim: { name: 'batch' } });
    expect(decision.stalledPercent).toBeGreaterThan(10);
    expect((decision.operands as readonly { source: string }[])[0]?.source).toBe(`full total of ${node.dir}/memory.pressure, last 2 s`);
    await batch.ended;
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
  });
});
