import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { StateFile } from '../../src/state/state-file.js';
import { fullFilesystem } from '../support/full-filesystem.js';
import { Evictd } from './evictd.js';
import { ANOTHER_BOOT, guarding, ON } from './node.js';
import { batchFirst, GRACE_S, setting, softly, terms, untilTerminating } from './restarting.js';
import { aWhile } from './wait.js';

// SIGKILL of evictd at chosen moments: restart-signals.test.ts and killed-while-writing.test.ts.

describe(`a restart in the middle of a grace period (${ON})`, () => {
  test.each<[how: string, signal: NodeJS.Signals, end: number | string]>([
    ['after SIGTERM', 'SIGTERM', 0],
    ['after SIGKILL', 'SIGKILL', 'SIGKILL'],
  ])(
    '%s the victim keeps the rest of its grace period, gets one SIGTERM, and is killed when the period is over',
    async (_how, signal, end) => {
      const { node, batch, web, directory } = await setting('say');
      const config = softly(node);
      const first = await new Evictd({ config, directory }).guarding();
      batch.grow();
      await first.recorded('decision');
      await untilTerminating(batch, node, `${directory}/run`);
      expect(await first.stop(signal)).toBe(end);

      const evictd = await new Evictd({ config, directory }).guarding();
      expect(batch.alive).toBe(true);
      expect(await evictd.metric('evictd_node_condition{condition="MemoryPressure"}')).toBe(1);
      expect(await batch.ended).toBe('SIGKILL');
      const outcome = await evictd.recorded('outcome');
      expect(outcome).toMatchObject({ decision: 1, result: 'killed', victim: { name: 'batch' } });
      expect(terms(batch)).toBe(1);
      expect(web.alive).toBe(true);
      const journal = evictd.journal();
      const start = journal.findLast(({ type }) => type === 'start');
      expect(start).toMatchObject({
        resumed: {
          thresholds: ['memory.available<384Mi'],
          conditions: ['MemoryPressure'],
          evictions: [{ decision: 1, victim: { name: 'batch' }, phase: 'terminating' }],
        },
      });
      expect(journal.filter(({ type }) => type === 'escalation')).toMatchObject([{ decision: 1, reason: 'grace period over' }]);
      // Times are those of the first evictd: one whole grace period lies between the signals.
      const { signalToExit = 0, killToExit = 0 } = outcome.spansMs as Record<string, number>;
      expect(signalToExit - killToExit).toBeGreaterThanOrEqual(GRACE_S * 1_000 - 0.01);
      expect(await evictd.metric('evictd_evictions_total{eviction_signal="memory.available"}')).toBe(1);
    },
  );

  test('a victim that ends while no evictd runs has its outcome', async () => {
    const { node, batch, directory } = await setting('say');
    const config = softly(node, { evictionMaxPodGracePeriod: 60 });
    const first = await new Evictd({ config, directory }).guarding();
    batch.grow();
    await untilTerminating(batch, node, `${directory}/run`);
    await first.stop('SIGKILL');
    batch.child.kill('SIGKILL');
    await batch.ended;
    const evictd = await new Evictd({ config, directory }).guarding();
    expect(await evictd.recorded('outcome')).toMatchObject({ decision: 1, result: 'killed', processesLeft: 0 });
    expect(evictd.journal().map(({ type }) => type)).not.toContain('escalation');
  });

  test('the eviction of a workload that has become critical is abandoned', async () => {
    const { node, batch, directory } = await setting('say');
    const first = await new Evictd({ config: softly(node), directory }).guarding();
    batch.grow();
    await untilTerminating(batch, node, `${directory}/run`);
    await first.stop();
    const config = softly(node, { rules: [{ match: { name: '*' }, critical: true }] });
    const evictd = await new Evictd({ config, directory }).guarding();
    expect(await evictd.recorded('outcome')).toMatchObject({
      decision: 1,
      result: 'abandoned',
      abandoned: 'it may not be evicted any more: critical',
      processesLeft: 1,
    });
    await aWhile();
    expect([batch.alive, terms(batch)]).toEqual([true, 1]);
  });

  test('the grace period of a soft threshold continues: its episode does not begin again', async () => {
    const { node, batch, directory } = await setting('exit');
    const config = softly(node, { evictionSoftGracePeriod: { 'memory.available': '5s' } });
    const first = await new Evictd({ config, directory }).guarding();
    batch.grow();
    const met = await first.recorded('threshold');
    await first.stop('SIGKILL');
    const evictd = await new Evictd({ config, directory }).guarding();
    const decision = await evictd.recorded('decision');
    const journal = evictd.journal();
    expect(journal.filter(({ type, met }) => type === 'threshold' && met === true)).toHaveLength(1);
    expect(journal.filter(({ type }) => type === 'condition')).toHaveLength(1);
    expect(Date.parse(decision.time) - Date.parse(met.time)).toBeGreaterThanOrEqual(4_900); // records are written slightly later
  });

  test('with compatibility: kubelet thresholds and conditions begin again, as in a kubelet, but an eviction in progress has its outcome', async () => {
    const { node, batch, directory } = await setting('say');
    const config = { ...softly(node), compatibility: 'kubelet' };
    const first = await new Evictd({ config, directory }).guarding();
    batch.grow();
    await untilTerminating(batch, node, `${directory}/run`);
    await first.stop('SIGKILL');
    const evictd = await new Evictd({ config, directory }).guarding();
    expect(await evictd.recorded('outcome')).toMatchObject({ decision: 1, result: 'killed' });
    expect(terms(batch)).toBe(1);
    const start = evictd.journal().findLast(({ type }) => type === 'start');
    expect(start).toMatchObject({ resumed: { thresholds: [], conditions: [], evictions: [{ decision: 1 }] } });
  });
});

describe(`saved state of an earlier evictd is discarded (${ON})`, () => {
  /** Kills evictd during a grace period, changes its saved state, and starts it again. */
  const restarted = async (change: (file: string) => void, through: readonly string[] = []) => {
    const { node, batch, directory } = await setting('say');
    const first = await new Evictd({ config: softly(node, { evictionMaxPodGracePeriod: 60 }), directory }).guarding();
    batch.grow();
    await untilTerminating(batch, node, `${directory}/run`);
    await first.recorded('decision');
    await first.stop('SIGKILL');
    const run = join(directory, 'run');
    const file = join(run, `cgroup-${encodeURIComponent(node.path)}.state`);
    expect(existsSync(file)).toBe(true);
    change(file);
    const quiet = { ...guarding(node, batchFirst), evictionHard: { 'memory.available': '32Mi' } };
    return { evictd: await new Evictd({ config: quiet, directory, through }).guarding(), batch };
  };
  const rewritten = (from: RegExp, to: string) => (file: string) => {
    const bytes = readFileSync(file, 'latin1');
    expect(bytes).toMatch(from);
    writeFileSync(file, Buffer.from(bytes.replaceAll(from, to), 'latin1'));
  };

  /** Changes the text of the saved state and writes it as evictd does. */
  const leaving = (from: RegExp, to: string) => (path: string) => {
    const file = new StateFile(path);
    const { text = '' } = file.found;
    expect(text).toMatch(from);
    file.write(text.replace(from, to));
    file.close();
  };

  test.each<[rule: string, change: (file: string) => void, reason: RegExp, through?: readonly string[]]>([
    ['if it is of another node cgroup', leaving(/"cgroupId":"\d+"/, '"cgroupId":"1"'), /^it is of another node cgroup/],
    ['if a part is invalid', leaving(/"phase":"terminating"/, '"phase":"other"'), /^it is not a state of evictd: .*phase/],
    ['if it was cut off', rewritten(/"format":4/g, '"format":?'), /^it was cut off$/],
    ['if it is of another boot', () => undefined, /^it is of another boot$/, ANOTHER_BOOT],
    ['if it is another file', (file) => writeFileSync(file, 'x'.repeat(4096)), /^it was cut off$/],
  ])(
    '%s: log and journal have the reason, the eviction is abandoned, and no workload is signalled',
    async (_rule, change, reason, through) => {
      const { evictd, batch } = await restarted(change, through);
      expect(await evictd.logged(/EVICTD_STATE_DISCARDED/)).toMatchObject({ level: 'warn' });
      await evictd.until('the second start is in the journal', () => evictd.journal().filter(({ type }) => type === 'start').length === 2);
      const start = evictd.journal().findLast(({ type }) => type === 'start');
      expect(start?.discarded).toMatch(reason);
      expect(start?.resumed).toBeUndefined();
      expect(await evictd.recorded('outcome')).toMatchObject({
        decision: 1,
        result: 'abandoned',
        abandoned: 'evictd ended during the eviction, and its result is not known',
        victim: { name: 'batch' },
      });
      await aWhile();
      expect([batch.alive, terms(batch)]).toEqual([true, 1]);
    },
  );

  test('a missing file is not reported', async () => {
    const { evictd } = await restarted((file) => {
      rmSync(file);
      mkdirSync(join(file, '..'), { recursive: true });
    });
    await evictd.recorded('outcome');
    expect(evictd.log.map(({ code }) => code)).not.toContain('EVICTD_STATE_DISCARDED');
  });

  test('a directory in place of the file: evictd reports it and does not start', async () => {
    const { node, directory } = await setting();
    const file = join(directory, 'run', `cgroup-${encodeURIComponent(node.path)}.state`);
    mkdirSync(file, { recursive: true });
    const evictd = new Evictd({ config: guarding(node), directory });
    expect(await evictd.exited()).toBe(75);
    await evictd.logged(/EVICTD_STATE_OPEN|cannot save the state in/);
  });
});

describe(`a full runtime directory (${ON})`, () => {
  test('evictd continues in the existing files after SIGKILL during a grace period', async () => {
    const { node, batch, web, directory } = await setting('say');
    const full = fullFilesystem(8 * 1024);
    const config = { ...softly(node), runtimeDirectory: full.directory };
    const first = await new Evictd({ config, directory }).guarding();
    batch.grow();
    await first.recorded('decision');
    await untilTerminating(batch, node, full.directory);
    await first.stop('SIGKILL');
    full.fill();

    const evictd = await new Evictd({ config, directory }).guarding();
    expect(await batch.ended).toBe('SIGKILL');
    expect(await evictd.recorded('outcome')).toMatchObject({ decision: 1, result: 'killed', victim: { name: 'batch' } });
    expect([terms(batch), web.alive]).toEqual([1, true]);
    expect(evictd.log.filter(({ code }) => /JOURNAL|STATE|INSTANCE/.test(code ?? ''))).toEqual([]);
    expect(await evictd.stop()).toBe(0);
    expect(readdirSync(full.directory).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  test('without files evictd guards, reports what it lacks, and creates them when there is room', async () => {
    const { node, batch, web, directory } = await setting();
    const full = fullFilesystem(8 * 1024);
    full.fill();
    const config = { ...guarding(node, batchFirst), runtimeDirectory: full.directory, monitoringInterval: '1s' };
    const evictd = await new Evictd({ config, directory }).guarding();
    expect(await evictd.logged(/EVICTD_JOURNAL_ROOM/)).toMatchObject({ level: 'error' });
    await evictd.logged(/EVICTD_STATE_WRITE/);
    await evictd.logged(/EVICTD_INSTANCE_UNRECORDED/);
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    expect(await evictd.recorded('outcome')).toMatchObject({ decision: 1, result: 'killed' });
    expect(web.alive).toBe(true);
    const name = `cgroup-${encodeURIComponent(node.path)}`;
    expect(readdirSync(full.directory)).not.toContain(`journal-${name}`);
    full.free();
    await evictd.logged(/^there is space for the journal/);
    expect(statSync(join(full.directory, `journal-${name}`)).size).toBe(4 * 1024 * 1024);
    // Created right after the log line.
    const size = (): number => statSync(join(full.directory, `${name}.state`), { throwIfNoEntry: false })?.size ?? 0;
    await evictd.until('the state file exists', () => size() === 384 * 1024);
    expect(await evictd.stop()).toBe(0);
  });
});
