import { chmodSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FakeRuntime } from '../host/linux/cri/fake-runtime.js';
import { loopWorks } from '../support/loop-filesystem.js';
import { disk } from './disk-holder.js';
import { evictd } from './evictd.js';
import { MIB } from './node.js';
import { until } from './wait.js';

const IMAGEFS = 16;

/** Commands that read once. */
describe.runIf(loopWorks())('the image filesystem that a container runtime reports (where loop devices are)', () => {
  /** @param imageFilesystem  the answer of the runtime */
  const setUp = async (imageFilesystem: (imagefs: string) => object | 'hang', thresholds: object) => {
    const [nodefs, imagefs] = [disk(8), disk(IMAGEFS)];
    const runtime = new FakeRuntime({
      ListPodSandbox: () => ({}),
      ListContainers: () => ({}),
      ImageFsInfo: () => imageFilesystem(imagefs),
    });
    onTestFinished(() => {
      runtime.remove();
    });
    await runtime.start();
    const file = `${runtime.directory}/config.yaml`;
    const config = {
      evictionHard: { 'memory.available': '0%', 'nodefs.available': '1%', 'nodefs.inodesFree': '0%', ...thresholds },
      filesystems: { nodefs },
      workloads: [{ cri: { endpoint: runtime.endpoint } }],
      stateDirectory: `${runtime.directory}/state`,
      runtimeDirectory: `${runtime.directory}/run`,
    };
    chmodSync(runtime.directory, 0o755);
    writeFileSync(file, JSON.stringify(config), { mode: 0o644 });
    const run = (...args: readonly string[]) => evictd(...args, '--config', file);
    /** Repeats the command until the runtime has answered in time: on a busy machine it may not. */
    const answered = async (hasAnswer: RegExp, ...args: readonly string[]) => {
      let ran = { code: 0 as unknown, stdout: '' };
      const circumstances = () => ran.stdout;
      await until('the runtime has answered in time', async () => hasAnswer.test((ran = await run(...args)).stdout), circumstances);
      return ran;
    };
    return { runtime, imagefs, run, answered };
  };
  const on = (mountpoint: string) => ({ image_filesystems: [{ fs_id: { mountpoint } }] });
  const WATCHED = { 'imagefs.available': '1%' };
  interface Signals {
    signals: { signal: string; capacityBytes?: number; reason?: string }[];
  }
  const imagefsOf = (stdout: string) => (JSON.parse(stdout) as Signals).signals.find(({ signal }) => signal === 'imagefs.available');

  test('check reads it, and requests nothing else', async () => {
    const { runtime, answered } = await setUp(on, WATCHED);
    const { code, stdout } = await answered(/"imagefs\.available",\s*"availableBytes"/, 'check', '-o', 'json');
    expect(code).toBe(0);
    const { capacityBytes = 0 } = imagefsOf(stdout) ?? {};
    expect([capacityBytes > 8 * MIB, capacityBytes <= IMAGEFS * MIB]).toEqual([true, true]);
    expect(new Set(runtime.requests.map(([call]) => call))).toEqual(new Set(['ImageFsInfo']));
  });

  test('check reports it as unknown if it hangs, and no other filesystem stands in for it', async () => {
    const { run } = await setUp(() => 'hang', WATCHED);
    const { code, stdout } = await run('check', '-o', 'json');
    expect(code).toBe(3);
    expect(imagefsOf(stdout)).toMatchObject({ reason: expect.stringContaining('no container runtime has reported yet') as string });
  });

  test('doctor and config check read it, and report that no threshold watches it', async () => {
    const { imagefs, answered } = await setUp(on, {});
    const doctor = await answered(/filesystem\.imagefs/, 'doctor', '-o', 'json');
    const { checks } = JSON.parse(doctor.stdout) as { checks: { id: string; summary: string }[] };
    expect(checks).toContainEqual(
      expect.objectContaining({
        id: 'filesystem.imagefs',
        status: 'ok',
        summary: expect.stringContaining(`${imagefs}, reported by the container runtime: ext4, `) as string,
      }),
    );
    await answered(/EVICTD_IMAGEFS_UNWATCHED/, 'config', 'check');
  });

  test('config check compares thresholds with its capacity', async () => {
    const { answered } = await setUp(on, { 'imagefs.available': '10Mi', 'nodefs.available': '10Mi' });
    const { stdout } = await answered(/^(?![^]*imagefs\.available cannot be read)/, 'config', 'check');
    expect(stdout.match(/EVICTD_LINT_ALWAYS_MET \S+:/g)).toEqual(['EVICTD_LINT_ALWAYS_MET nodefs.available:']);
  });
});
