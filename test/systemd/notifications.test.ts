import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Evictd } from '../e2e/evictd.js';
import { memoryController } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';
import { hasSystemd, property, systemd, TestUnits } from '../support/systemd.js';
import { holding } from './scene.js';
import { guardingSlice, leaking, NODE, SLICE, small } from './slice.js';

const LEAK = 'evictd-test-leak.service';
/** Keeps the slice alive. */
const OTHER = 'evictd-test-other.service';
const isV2 = memoryController()?.version === 2;

/** daemon: a user of every Debian without a session. */
const UID = 1;
const RUNTIME = `/run/user/${String(UID)}`;
const BUS = 'evictd-test-bus.service';

/** Follows a bus with the tool of the reference implementation. */
async function follow(address: string, uid: number, rule: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const child = spawn('dbus-monitor', ['--address', address, rule], { stdio: ['ignore', 'pipe', 'inherit'], uid });
  onTestFinished(() => void child.kill());
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line.trim()));
  await eventually('it listens', () => lines.length > 0);
  return lines;
}

describe.skipIf(!hasSystemd)('notifications (needs systemd)', () => {
  const units = new TestUnits();
  beforeEach(() => {
    onTestFinished(() => {
      units.remove();
    });
  });

  /** Evicts a unit. */
  async function evictLeak(notifications: object): Promise<Evictd> {
    units.writeAll({ [SLICE]: NODE, [LEAK]: leaking(), [OTHER]: small() });
    units.start(OTHER);
    const evictionHard = { 'memory.available': '384Mi' };
    const evictd = await new Evictd({ config: guardingSlice({ evictionHard, notifications }) }).guarding();
    units.start(LEAK);
    await evictd.recorded('outcome');
    return evictd;
  }

  const sent = (evictd: Evictd, kind: string, result = 'sent') =>
    evictd.metric(`evictd_notifications_total{kind="${kind}",result="${result}"}`);

  test('include the signal of systemd-oomd on the system bus', async () => {
    const lines = await follow('unix:path=/run/dbus/system_bus_socket', 0, "type='signal',interface='org.freedesktop.oom1.Manager'");
    const evictd = await evictLeak({ killedSignal: true });
    await eventually('it arrives', () => lines.includes('string "memory-used"'));
    expect(lines).toContain(`string "/${SLICE}/${LEAK}"`);
    expect(await sent(evictd, 'killedSignal')).toBe(1);
  });

  test("include a line in oomd's format in the kernel log", async () => {
    const evictd = await evictLeak({ kernelLog: true });
    await evictd.until('it is counted', async () => (await sent(evictd, 'kernelLog')) === 1);
    const line = /oomd kill: [\d.]+ [\d.]+ [\d.]+ evictdtest\.slice\/evictd-test-leak\.service \d+ ruleset:\[memory\.available\]/;
    expect(systemd('dmesg')).toMatch(line);
  });

  test.runIf(isV2)('include the extended attributes of systemd-oomd, which systemd reads', async () => {
    const evictd = await evictLeak({ xattrs: true });
    expect(await sent(evictd, 'xattrs')).toBe(1);
    await eventually('systemd knows', () => property(LEAK, 'Result') === 'oom-kill');
    expect(systemd('journalctl', '--unit', LEAK, '--output=cat', '--boot')).toMatch(/systemd-oomd killed \d+ process\(es\) in this unit/);
  });

  test('without the key xattrs have no extended attributes for systemd', async () => {
    await evictLeak({ kernelLog: true });
    await eventually('the unit has ended', () => ['failed', 'inactive'].includes(property(LEAK, 'ActiveState')));
    expect(property(LEAK, 'Result')).not.toBe('oom-kill');
  });

  test('include one for the user whose unit was ended, on the bus of that user', async () => {
    const isMade = mkdirSync(RUNTIME, { recursive: true, mode: 0o700 }) !== undefined;
    chownSync(RUNTIME, UID, UID);
    onTestFinished(() => {
      if (isMade) rmSync(RUNTIME, { recursive: true, force: true });
    });
    const config = '/run/evictd-test-bus.conf';
    const policy =
      '<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>';
    writeFileSync(
      config,
      `<busconfig><type>session</type><listen>unix:path=${RUNTIME}/bus</listen><auth>EXTERNAL</auth>${policy}</busconfig>`,
    );
    onTestFinished(() => {
      rmSync(config);
    });
    const slice = `user-${String(UID)}.slice`;
    const scope = 'evictd-test-app.service';
    units.writeAll({
      [BUS]: { Service: { User: String(UID), ExecStart: `/usr/bin/dbus-daemon --config-file=${config} --nofork --nopidfile` } },
      [scope]: { Service: { Slice: slice, ExecStart: holding(160) } },
    });
    units.start(BUS);
    await eventually('the bus is there', () => existsSync(`${RUNTIME}/bus`));
    const lines = await follow(`unix:path=${RUNTIME}/bus`, UID, "interface='org.freedesktop.Notifications'");
    systemd('systemctl', 'set-property', '--runtime', slice, 'MemoryMax=512M');
    onTestFinished(() => {
      systemd('systemctl', 'revert', slice);
    });
    const path = `/user.slice/${slice}`;
    units.start(scope);
    const evictd = await new Evictd({
      config: {
        ...{ node: { cgroup: path }, workloads: [{ cgroup: path }], evictionHard: { 'memory.available': '384Mi' } },
        notifications: { desktop: true },
      },
    }).guarding();
    await evictd.recorded('outcome');
    await eventually('it arrives', () => lines.some((line) => line.includes('member=Notify')));
    expect(lines).toContain('string "evictd-test-app.service was ended"');
    expect(lines.join('\n')).toMatch(
      /string "The machine was short of memory, and evictd ended evictd-test-app\.service\. It used .* of memory\."/,
    );
    // No program owns the name of the service on this bus, so the call is refused.
    await evictd.until('the answer is counted', async () => (await sent(evictd, 'desktop', 'failed')) === 1);
  });
});
