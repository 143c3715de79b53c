import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConditionType } from '../../../src/core/signal/signal.js';
import { initialState } from '../../../src/core/decide/state.js';
import { ConditionsFile, readConditions } from '../../../src/features/admission/conditions-file.js';
import type { StepReport, WakeSource } from '../../../src/monitor/ports/ports.js';
import type { PublishedConditions } from '../../../src/features/admission/published-conditions.js';
import { policy } from '../../core/support.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const MINUTE = 60_000_000_000n;
const BOOT = 'this-boot';

let directory: string;
let path: string;
let said: string[];
const files: ConditionsFile[] = [];

beforeEach(() => {
  directory = temporaryDirectory();
  path = join(directory, 'machine.conditions.json');
  said = [];
});
afterEach(() => {
  for (const file of files.splice(0)) file.close();
});

function publisher(node = 'machine'): ConditionsFile {
  const say = (message: string, { code = '' }: Readonly<Record<string, unknown>> = {}): void => {
    said.push(`${code as string} ${message}`);
  };
  const file = new ConditionsFile({ path, node, bootId: BOOT, log: { info: say, warn: say } });
  files.push(file);
  return file;
}

function stepped(source: WakeSource, conditions: readonly ConditionType[] = [], monitoringIntervalNs = MINUTE): StepReport {
  const nowNs = process.hrtime.bigint();
  return {
    wake: { source, atNs: nowNs },
    policy: policy([], { monitoringIntervalNs }),
    input: { nowNs, layout: 'single', victims: new Map(), reclaimed: undefined },
    observations: undefined,
    candidates: [],
    rechecks: [],
    outside: [],
    state: { ...initialState, conditions },
    effects: [],
  };
}

const read = (): PublishedConditions => readConditions(path, { node: 'machine', bootId: BOOT });
const types = (): ConditionType[] => read().conditions.map(({ type }) => type);

describe('publishing the conditions', () => {
  test('writes the conditions of the first step, with node and process', () => {
    publisher().stepped(stepped('start', ['MemoryPressure', 'DiskPressure']));
    expect(read()).toMatchObject({
      node: 'machine',
      pid: process.pid,
      bootId: BOOT,
      monitoringIntervalNs: MINUTE,
      conditions: [{ type: 'MemoryPressure' }, { type: 'DiskPressure' }],
    });
  });

  test.each<[rule: string, source: WakeSource]>([
    ['at every tick', 'tick'],
    ['after a reload', 'reload'],
  ])('renews the time of the update %s', (_rule, source) => {
    const file = publisher();
    file.stepped(stepped('start'));
    const first = read().updatedNs;
    const again = stepped(source);
    file.stepped(again);
    expect(read().updatedNs).toBe(again.input.nowNs);
    expect(again.input.nowNs).toBeGreaterThan(first);
  });

  test('writes a change at once, whatever woke evictd', () => {
    const file = publisher();
    file.stepped(stepped('start'));
    file.stepped(stepped('memcg_threshold', ['MemoryPressure']));
    expect(types()).toEqual(['MemoryPressure']);
    file.stepped(stepped('deadline'));
    expect(types()).toEqual([]);
  });

  test('writes the taints of the configuration, and a change of them at once', () => {
    const file = publisher();
    file.stepped(stepped('start'));
    expect(read()).not.toHaveProperty('taints');
    const taints = [{ key: 'maintenance', value: 'yes', effect: 'NoSchedule' }] as const;
    const changed = stepped('deadline');
    file.stepped({ ...changed, policy: { ...changed.policy, taints } });
    expect(read().taints).toEqual(taints);
  });

  test('writes the begin and the cancellation of a shutdown at once, and keeps the conditions', () => {
    const file = publisher();
    file.shuttingDown(true);
    file.stepped(stepped('start', ['MemoryPressure']));
    expect(read()).toMatchObject({ conditions: [{ type: 'MemoryPressure' }], shutdown: { since: expect.any(String) as unknown } });
    file.shuttingDown(false);
    expect([read().shutdown, types()]).toEqual([undefined, ['MemoryPressure']]);
    file.shuttingDown(true);
    expect(read().shutdown).toBeDefined();
    file.stepped(stepped('tick'));
    expect(read().shutdown).toBeDefined();
  });

  test('writes nothing after close()', () => {
    const file = publisher();
    file.stepped(stepped('start'));
    file.close();
    file.shuttingDown(true);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('writes nothing between ticks if nothing has changed, because wakes may come every few milliseconds', () => {
    const file = publisher();
    file.stepped(stepped('start', ['MemoryPressure']));
    const { ino } = statSync(path);
    file.stepped(stepped('sampler', ['MemoryPressure']));
    file.stepped(stepped('victim', ['MemoryPressure']));
    expect(statSync(path).ino).toBe(ino);
  });

  test('keeps the time since which a condition is true, and sets it anew after the condition was false', async () => {
    const file = publisher();
    file.stepped(stepped('start', ['MemoryPressure']));
    const [first] = read().conditions;
    await pause(2);
    file.stepped(stepped('tick', ['MemoryPressure', 'PIDPressure']));
    const [memory, pids] = read().conditions;
    expect(memory).toEqual(first);
    expect(pids?.since).not.toBe(first?.since);
    file.stepped(stepped('tick'));
    await pause(2);
    file.stepped(stepped('tick', ['MemoryPressure']));
    expect(read().conditions[0]?.since).not.toBe(first?.since);
  });

  test('renews the time of the update at every second tick without a step, and keeps the conditions', () => {
    const file = publisher();
    const nowNs = process.hrtime.bigint();
    const firstNs = nowNs - 2n * MINUTE;
    const first = stepped('start', ['MemoryPressure']);
    file.stepped({ ...first, input: { ...first.input, nowNs: firstNs } });
    expect(file.skipped(nowNs - MINUTE)).toBe(true);
    expect(read().updatedNs).toBe(firstNs);
    expect(file.skipped(nowNs)).toBe(true);
    expect([read().updatedNs, types()]).toEqual([nowNs, ['MemoryPressure']]);
  });

  test('only renews the time where nothing else has changed, and replaces the file at every step', () => {
    const file = publisher();
    const nowNs = process.hrtime.bigint();
    const first = stepped('start', ['MemoryPressure']);
    file.stepped({ ...first, input: { ...first.input, nowNs: 1n } });
    const { ino, size } = statSync(path);
    file.skipped(nowNs);
    expect([statSync(path).ino, statSync(path).size, read().updatedNs]).toEqual([ino, size, nowNs]);
    file.stepped(stepped('tick', ['MemoryPressure']));
    expect(statSync(path).ino).not.toBe(ino);
  });

  test('is written again after the file was removed', () => {
    const file = publisher();
    const first = stepped('start', ['PIDPressure']);
    file.stepped({ ...first, input: { ...first.input, nowNs: 1n } });
    rmSync(path);
    file.skipped(process.hrtime.bigint());
    expect(types()).toEqual(['PIDPressure']);
  });

  test('is tried again at every tick without a step after the file could not be written', () => {
    const file = publisher();
    const nowNs = process.hrtime.bigint();
    const first = stepped('start');
    rmSync(directory, { recursive: true });
    file.stepped({ ...first, input: { ...first.input, nowNs: nowNs - MINUTE } });
    mkdirSync(directory);
    file.skipped(nowNs);
    expect(read().updatedNs).toBe(nowNs);
  });

  test('uses another interval from the reload on', () => {
    const file = publisher();
    file.stepped(stepped('start'));
    file.stepped(stepped('reload', [], 2n * MINUTE));
    expect(read().monitoringIntervalNs).toBe(2n * MINUTE);
  });

  test('removes the file when evictd stops, so that nothing is known any more', () => {
    const file = publisher();
    file.stepped(stepped('start'));
    file.close();
    expect(readdirSync(directory)).toEqual([]);
    file.close(); // close() may be called twice
  });

  test('replaces a file that a crash left', () => {
    writeFileSync(path, 'half');
    writeFileSync(`${path}.new`, 'half of the next');
    publisher().stepped(stepped('start', ['PIDPressure']));
    expect(types()).toEqual(['PIDPressure']);
    expect(readdirSync(directory)).toEqual(['machine.conditions.json']);
  });

  test('does not follow a link at the path of the file', () => {
    const elsewhere = join(directory, 'elsewhere');
    writeFileSync(elsewhere, 'mine');
    symlinkSync(elsewhere, path);
    symlinkSync(elsewhere, `${path}.new`);
    publisher().stepped(stepped('start'));
    expect(readFileSync(elsewhere, 'utf8')).toBe('mine');
    expect(types()).toEqual([]);
  });

  test('replaces the file at once: a reader sees the old or the new one, never a part', async () => {
    const file = publisher();
    file.stepped(stepped('start'));
    const program = `
      const { readFileSync } = require('node:fs');
      process.stdout.write('reading\\n');
      const seen = { reads: 0, torn: 0, counts: new Set() };
      const end = Date.now() + 20_000; // a process that is left over ends by itself
      for (; (seen.reads < 2_000 || seen.counts.size < 2) && Date.now() < end; seen.reads++) {
        try { seen.counts.add(JSON.parse(readFileSync(${JSON.stringify(path)}, 'utf8')).conditions.length); } catch { seen.torn++; }
      }
      process.stdout.write(JSON.stringify({ ...seen, counts: [...seen.counts].sort() }));`;
    const reader = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    reader.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    await once(reader.stdout, 'data');
    const closed = once(reader, 'close').then(() => true);
    for (let turn = 0; !(await Promise.race([closed, pause(0, false)])); turn++) {
      for (let times = 0; times < 20; times++) file.stepped(stepped('tick', times % 2 === 0 ? [] : ['MemoryPressure', 'DiskPressure']));
    }
    const seen = JSON.parse(out.replace('reading\n', '')) as { reads: number; torn: number; counts: number[] };
    expect(seen.torn).toBe(0);
    expect(seen.counts).toEqual([0, 2]);
    expect(said).toEqual([]);
  });
});

describe('conditions that cannot be written', () => {
  test('are reported once, and again when they can be written, and nothing throws', () => {
    const file = publisher();
    file.stepped(stepped('start'));
    const away = `${directory}-away`;
    renameSync(directory, away);
    try {
      file.stepped(stepped('tick'));
      file.stepped(stepped('tick', ['MemoryPressure']));
      expect(said).toEqual([
        expect.stringMatching(
          /^EVICTD_CONDITIONS_WRITE cannot publish the node conditions: ENOENT.*; evictd admit cannot use them until evictd can write the file$/,
        ),
      ]);
    } finally {
      renameSync(away, directory);
    }
    file.stepped(stepped('tick', ['MemoryPressure']));
    expect(said).toHaveLength(2);
    expect(said[1]).toMatch(/ the node conditions are published again: /);
    expect(types()).toEqual(['MemoryPressure']);
  });

  test('leave no outdated file behind', () => {
    const file = publisher();
    file.stepped(stepped('start'));
    mkdirSync(`${path}.new/full`, { recursive: true }); // a directory in the place of the new file
    file.stepped(stepped('tick'));
    expect(types()).toEqual([]); // no change: the file may age
    file.stepped(stepped('memcg_threshold', ['MemoryPressure']));
    expect(read).toThrow(expect.objectContaining({ code: 'EVICTD_CONDITIONS_ABSENT' }));
    rmSync(`${path}.new`, { recursive: true });
  });

  test('do not make close() throw', () => {
    const file = publisher();
    mkdirSync(`${path}/full`, { recursive: true });
    file.close();
    expect(said).toEqual([]);
  });
});

describe('reading the published conditions', () => {
  test.each<[rule: string, prepare: () => void, code: string]>([
    ['there is no file', () => undefined, 'EVICTD_CONDITIONS_ABSENT'],
    ['there is no runtime directory', () => rmSync(directory, { recursive: true }), 'EVICTD_CONDITIONS_ABSENT'],
    ['a directory', () => mkdirSync(path), 'EVICTD_CONDITIONS_UNREADABLE'],
    ['a FIFO without a writer', () => void execFileSync('mkfifo', [path]), 'EVICTD_CONDITIONS_UNREADABLE'],
    ['a device that never ends', () => symlinkSync('/dev/zero', path), 'EVICTD_CONDITIONS_UNREADABLE'],
    ['a link to itself', () => symlinkSync(path, path), 'EVICTD_CONDITIONS_UNREADABLE'],
    [
      'the runtime directory is not a directory',
      () => {
        rmSync(directory, { recursive: true });
        writeFileSync(directory, '');
      },
      'EVICTD_CONDITIONS_UNREADABLE',
    ],
    ['an empty file', () => writeFileSync(path, ''), 'EVICTD_CONDITIONS_MALFORMED'],
    ['the file is larger than a file of conditions can be', () => writeFileSync(path, ' '.repeat(1 << 20)), 'EVICTD_CONDITIONS_MALFORMED'],
  ])('%s', (_rule, prepare, code) => {
    prepare();
    expect(read).toThrow(expect.objectContaining({ code }));
  });
});
