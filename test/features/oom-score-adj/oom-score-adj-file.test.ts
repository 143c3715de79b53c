import { describe, expect, onTestFinished, test } from 'vitest';
import { withProcess } from '../../../src/features/oom-score-adj/oom-score-adj-file.js';
import { testCgroup } from '../../support/cgroup.js';

describe('a held process', () => {
  test('has no values after its end, even if the pid is reused', async () => {
    const cgroup = testCgroup();
    onTestFinished(() => cgroup.cleanup());
    const { pid, child, ended } = await cgroup.spawn('sleep', ['60']);
    const whole = withProcess(pid, ({ identity }) => identity);
    expect(whole).toMatchObject({ pid, parent: process.pid });
    child.kill('SIGKILL');
    await ended;
    expect(withProcess(pid, (held) => held.value())).toBeUndefined();
  });
});
