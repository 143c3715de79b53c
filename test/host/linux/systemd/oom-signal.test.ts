import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OomSignal } from '../../../../src/host/linux/systemd/oom-signal.js';
import { eventually } from '../../../support/eventually.js';

const hasBus = ['dbus-daemon', 'dbus-monitor'].every((tool) => existsSync(`/usr/bin/${tool}`));

/** A bus of the test's own. `owners`: who may own systemd-oomd's name. */
async function bus(mayOwn: boolean): Promise<string> {
  const directory = mkdtempSync('/var/tmp/evictd-test-bus-');
  const path = join(directory, 'socket');
  const allowed = `<allow send_type="signal"/><allow send_type="method_call"/><allow receive_type="signal"/><allow eavesdrop="true"/>`;
  const own = mayOwn ? '<allow own="org.freedesktop.oom1"/>' : '<deny own="*"/>';
  const config = join(directory, 'bus.conf');
  writeFileSync(
    config,
    `<busconfig><type>system</type><listen>unix:path=${path}</listen><auth>EXTERNAL</auth>` +
      `<policy context="default"><allow user="*"/>${allowed}${own}</policy></busconfig>`,
  );
  const daemon = spawn('dbus-daemon', [`--config-file=${config}`, '--nofork', '--nopidfile'], { stdio: 'ignore' });
  onTestFinished(() => {
    daemon.kill();
    rmSync(directory, { recursive: true });
  });
  await eventually('the bus listens', () => existsSync(path));
  return path;
}

/** The lines that dbus-monitor prints of signals. */
async function monitor(path: string, rule: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const child = spawn('dbus-monitor', ['--address', `unix:path=${path}`, rule], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line.trim()));
  await eventually('it listens', () => lines.some((line) => line.includes('NameAcquired') || line.includes('NameLost')));
  return lines;
}

function signalAt(path: string, ownsName = false) {
  const refused: string[] = [];
  const signal = new OomSignal(ownsName, (why) => refused.push(why), { path, daemon: true });
  onTestFinished(() => {
    signal.close();
  });
  return { signal, refused };
}

describe.runIf(hasBus)('the signal of systemd-oomd (needs dbus-daemon)', () => {
  test('reaches its listeners', async () => {
    const path = await bus(false);
    const lines = await monitor(path, "type='signal',interface='org.freedesktop.oom1.Manager',member='Killed'");
    const { signal } = signalAt(path);
    await eventually('it is sent', () => signal.killed('/batch.slice/job', 'memory-used') === undefined);
    await eventually('it arrives', () => lines.includes('string "memory-used"'));
    const at = lines.findIndex((line) => line.includes('member=Killed'));
    expect(lines[at]).toMatch(/path=\/org\/freedesktop\/oom1; interface=org\.freedesktop\.oom1\.Manager; member=Killed$/);
    expect(lines.slice(at + 1, at + 3)).toEqual(['string "/batch.slice/job"', 'string "memory-used"']);
  });

  test('comes from the bus name where that is configured and free', async () => {
    const path = await bus(true);
    const lines = await monitor(path, "type='signal',sender='org.freedesktop.oom1'");
    const { signal, refused } = signalAt(path, true);
    await eventually('it is sent', () => signal.killed('/a', 'memory-used') === undefined);
    await eventually('it arrives', () => {
      signal.killed('/a', 'memory-used');
      return lines.includes('string "/a"');
    });
    expect(refused).toEqual([]);
    const second = signalAt(path, true);
    await eventually('the name is refused', () => second.refused.length > 0);
    expect(second.refused).toEqual(['another program owns it']);
    expect(second.signal.killed('/b', 'memory-used')).toBeUndefined();
  });

  test('is sent without the name where that is not permitted', async () => {
    const path = await bus(false);
    const { signal, refused } = signalAt(path, true);
    await eventually('the name is refused', () => refused.length > 0);
    expect(refused).toEqual([expect.stringMatching(/not allowed to own/)]);
    expect(signal.killed('/a', 'memory-used')).toBeUndefined();
  });
});

test('a missing bus is named in the error', async () => {
  const { signal } = signalAt('/no/such/bus');
  await eventually('it was tried', () => signal.killed('/a', 'memory-used')?.includes('ENOENT'));
});
