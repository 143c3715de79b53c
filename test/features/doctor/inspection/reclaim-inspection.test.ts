import { expect, test } from 'vitest';
import { reclaimFacts } from '../../../../src/features/doctor/inspection/reclaim-inspection.js';
import { reclaimCheck } from '../../../../src/features/doctor/checks/node.js';
import { load } from '../../../config/scratch.js';

const check = (yaml: string, ...there: readonly string[]) =>
  reclaimCheck.judge({
    reclaim: reclaimFacts(load({ 'config.yaml': `reclaim: [${yaml}]\n` }).config.reclaim, (path) => there.includes(path)),
  });

const SYSTEMD = '/run/systemd/system';
const PRUNE = '{step: command, name: prune, command: [/usr/bin/docker, prune], signals: [nodefs.available]}';
const CORES = '{step: core-dumps, olderThan: 1h}';

test.each<[rule: string, yaml: string, there: readonly string[], status: string, summary: RegExp]>([
  [
    'programs and systemd exist',
    `${PRUNE}, ${CORES}`,
    [SYSTEMD, '/usr/bin/docker', '/usr/bin/find', '/var/crash'],
    'ok',
    /^prune, core-dumps: /,
  ],
  ['the directory of a step does not exist', CORES, [SYSTEMD, '/usr/bin/find'], 'ok', /^core-dumps \(nothing here for core-dumps\)/],
  ['a program is not', `${CORES}, ${PRUNE}`, [SYSTEMD], 'degraded', /^prune: \/usr\/bin\/docker does not exist/],
  ['systemd is not', PRUNE, ['/usr/bin/docker'], 'degraded', /^prune: needs systemd/],
])('%s', (_rule, yaml, there, status, summary) => {
  expect(check(yaml, ...there)).toMatchObject([{ id: 'reclaim.steps', status, summary: expect.stringMatching(summary) as string }]);
});

test('without reclaim steps there is no check', () => {
  expect(check('', SYSTEMD)).toEqual([]);
});
