import { expect, test } from 'vitest';
import { installCommand } from '../../src/cli/installation.js';
import { playedMachine, put, request } from '../install/machine.js';
import { ran } from './support.js';

const SECOND = 1_000_000_000n;
const HUP = 'systemctl kill --signal=HUP systemd-logind.service';

/** Installs where logind lets a shutdown wait for 5 s, and 30 s are asked for. */
async function installs(machine: ReturnType<typeof playedMachine>, ...args: readonly string[]): Promise<string> {
  const config = machine.at('config.yaml');
  put(config, 'shutdownGracePeriod: 30s\n');
  const { program, loads, root, documentation } = request(machine.machine);
  const command = await ran(
    (io) =>
      installCommand(() =>
        Promise.resolve({
          io,
          machine: machine.machine,
          readInhibitDelay: () => Promise.resolve({ kind: 'known', maxNs: 5n * SECOND } as const),
          program: { program, loads, root, documentation },
          end: () => undefined,
        }),
      ),
    ['--config', config, ...args],
  );
  expect(command.error).toBeUndefined();
  return command.out;
}

test('where logind waits for less time it is said how to change that', async () => {
  expect(await installs(playedMachine())).toContain('\n  evictd install --logind-drop-in: logind lets');
});

test('… what is written is not asked for once more', async () => {
  expect(await installs(playedMachine(), '--logind-drop-in')).not.toContain('logind lets');
});

test('… a drop-in that logind does not follow is handed to it again, and it is said what else may be', async () => {
  const machine = playedMachine();
  await installs(machine, '--logind-drop-in');
  machine.ran.length = 0;
  const out = await installs(machine);
  expect(machine.ran).toContain(HUP);
  expect(out).toContain('50-evictd.conf (unchanged)');
  expect(out).toContain('\n  evictd shutdown --plan: logind had not taken');
});
