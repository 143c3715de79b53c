import { expect, test } from 'vitest';
import { lintImages } from '../../../../src/config/lint/workloads/rules.js';
import type { MachineFacts } from '../../../../src/config/lint/machine.js';
import type { LintSubject } from '../../../../src/config/lint/lint-rule.js';
import { threshold } from '../../../core/support.js';
import { machine, subject } from '../support.js';

test.each<[rule: string, signal: Parameters<typeof threshold>[0], layout: MachineFacts['layout'], filesystems: object, isSaid: boolean]>([
  ['images apart, and only nodefs has a threshold', 'nodefs.available', 'imagefs', {}, true],
  ['images apart and containers with the node, and only nodefs has a threshold', 'nodefs.available', 'split', {}, true],
  ['imagefs has a threshold', 'imagefs.inodesFree', 'imagefs', {}, false],
  ['images on nodefs', 'nodefs.available', 'single', {}, false],
  ['configured: its thresholds were disabled on purpose', 'nodefs.available', 'imagefs', { imagefs: '/images' }, false],
  ['the filesystem is not known yet', 'nodefs.available', { error: '/: not read yet' }, {}, false],
  ['the filesystem was not read', 'nodefs.available', undefined, {}, false],
])('%s', (_rule, signal, layout, named, isSaid) => {
  const filesystems: LintSubject['filesystems'] = { nodefs: '/', ...named };
  const found = lintImages(subject([threshold(signal, '1Gi')], { filesystems }), machine(layout === undefined ? {} : { layout }));
  expect(found.map(({ code }) => code)).toEqual(isSaid ? ['EVICTD_IMAGEFS_UNWATCHED'] : []);
});
