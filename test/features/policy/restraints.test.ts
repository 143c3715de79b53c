import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { RestraintFile } from '../../../src/features/policy/restraint/restraint-file.js';
import { CgroupDirectory } from '../../../src/host/linux/cgroup/cgroup-directory.js';
import { readBootId } from '../../../src/host/linux/process/own-process.js';
import { freshFile } from '../../support/oom-score-adj.js';
import { eventually } from '../../support/eventually.js';
import { withoutDescriptors } from '../../support/descriptors.js';
import { freezable, freezers, ladder } from './ladder.js';

const forNs = 60_000_000_000n;
const [freezer = 'freezer'] = freezers;

describe.runIf(freezers.length > 0)('what is throttled or frozen', () => {
  const workload = freezable(freezer);
  const freeze = async (given = ladder()) => {
    const { target, isFrozen } = workload();
    expect(await given.act({ action: 'freeze', target, forNs })).toEqual({ result: 'done' });
    await eventually('it is frozen', isFrozen);
    return given;
  };

  test('is released by the next evictd', async () => {
    const { file } = await freeze();
    const { restraints, log } = ladder({ file });
    expect(restraints.takeOver()).toMatchObject([{ kind: 'freeze', path: workload().target.path }]);
    expect(workload().isFrozen()).toBe(false);
    expect(existsSync(file)).toBe(false);
    expect(log.information).toHaveLength(1);
  });

  test('is in the file before it is written to the kernel, and is not done without the file', async () => {
    const given = ladder({ file: '/proc/evictd-test/file' });
    const { target, isFrozen } = workload();
    expect(await given.act({ action: 'freeze', target, forNs })).toMatchObject({
      result: 'failed',
      error: expect.stringContaining('ENOENT') as unknown,
    });
    expect(isFrozen()).toBe(false);
    expect(given.restraints.all).toEqual([]);
  });

  test('is released at the end, and when its policy is removed', async () => {
    const given = await freeze();
    given.restraints.keepOnly(new Set(['test']));
    expect(workload().isFrozen()).toBe(true);
    given.restraints.keepOnly(new Set(['other']));
    expect(workload().isFrozen()).toBe(false);
    await freeze(given);
    given.restraints.close();
    expect(workload().isFrozen()).toBe(false);
    expect(existsSync(given.file)).toBe(false);
  });

  test('is left as another program has changed it since', async () => {
    const { file } = await freeze();
    const { target, isFrozen } = workload();
    const saved = readFileSync(file, 'utf8');
    ladder({ file }).restraints.takeOver();
    expect(isFrozen()).toBe(false);
    writeFileSync(file, saved); // as if evictd had ended before it wrote to the kernel
    const next = ladder({ file });
    expect(next.restraints.takeOver()).toEqual([]);
    expect(next.log.information).toEqual([]);
    expect(target.path).not.toBe('');
  });

  test('is tried again if it could not be released', async () => {
    const given = await freeze();
    const { target, isFrozen } = workload();
    await withoutDescriptors(() => {
      void given.act({ action: 'thaw', target, reason: 'time' });
    });
    expect(isFrozen()).toBe(true);
    expect(given.log.codes).toContain('EVICTD_RESTRAINT_LEFT');
    const [left] = new RestraintFile(given.file, readBootId(), '').load();
    const cgroup = new CgroupDirectory(left?.directory ?? '', left?.id ?? 0n);
    // What evictd itself wrote would count as the original value.
    await expect(left && given.restraints.impose(left, 'test', cgroup)).rejects.toThrow('could not be restored yet');
    expect(given.restraints.retry()).toMatchObject([{ path: target.path }]);
    expect(isFrozen()).toBe(false);
  });

  test('is forgotten with its cgroup, and another cgroup of that name is left unchanged', async () => {
    const { file } = await freeze();
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/"id":"\d+"/, '"id":"1"'));
    const next = ladder({ file });
    expect(next.restraints.takeOver()).toEqual([]);
    expect(workload().isFrozen()).toBe(true);
    expect([existsSync(file), next.log.codes]).toEqual([false, []]);
  });

  test('is released after another thread has finished writing it', async () => {
    const given = ladder();
    const { target, isHeld } = workload();
    const imposed = given.act({ action: 'freeze', target, forNs });
    await given.act({ action: 'thaw', target, reason: 'time' });
    await imposed;
    expect(isHeld()).toBe(false);
    expect(given.restraints.all).toEqual([]);
    expect(existsSync(given.file)).toBe(false);
  });
});

const killing = { kind: 'freeze', target: '/a#1', path: '/a', directory: '/sys/fs/cgroup/a', id: '1', before: '1', written: '0' };
const restraints = [{ ...killing, file: 'cgroup.kill' }];
test.each([
  ['that was cut off', '{'],
  ['with another control file', JSON.stringify({ version: 2, bootId: readBootId(), lock: '', restraints })],
])('a file %s is reported, and nothing is throttled or frozen', (_rule, text) => {
  const file = freshFile();
  writeFileSync(file, text);
  const { restraints, log } = ladder({ file });
  expect(restraints.takeOver()).toEqual([]);
  expect(log.codes).toEqual(['EVICTD_RESTRAINT_UNREAD']);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('a file of another boot is ignored, because its cgroups are others', () => {
  const path = freshFile();
  new RestraintFile(path, 'before', '').save([
    { kind: 'freeze', target: '/a#1', path: '/a', directory: '/a', id: 1n, file: 'cgroup.freeze', before: '0', written: '1' },
  ]);
  expect(new RestraintFile(path, 'before', '').load()).toHaveLength(1);
  expect(new RestraintFile(path, 'now', '').load()).toEqual([]);
});
