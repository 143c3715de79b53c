import { expect, onTestFinished, test } from 'vitest';
import { installCommand } from '../../src/cli/install.js';
import { playedMachine, put, request } from '../features/install/machine.js';
import type { PresentWorkloadsOf } from '../../src/features/install/profile/configuration-effect.js';
import { ran } from './support.js';

const SECOND = 1_000_000_000n;
const HUP = 'systemctl kill --signal=HUP systemd-logind.service';

/** Installs where logind lets a shutdown wait for 5 s, and 30 s are asked for. */
async function installs(machine: ReturnType<typeof playedMachine>, ...args: readonly string[]): Promise<string> {
  const config = machine.at('config.yaml');
  put(config, 'shutdownGracePeriod: 30s\n');
  return installed(machine, '--config', config, ...args);
}

/** One workload for each source that the configuration names. */
const namedBy: PresentWorkloadsOf = ({ config }) =>
  Promise.resolve(config.workloads.map((source) => ({ name: JSON.stringify(source), path: '/a', matched: [], unevictable: undefined })));

let setIn: { readonly setIn?: string } = {};

async function installed(machine: ReturnType<typeof playedMachine>, ...args: readonly string[]): Promise<string> {
  const { program, loads, root, documentation } = request(machine.machine);
  const command = await ran(
    (io) =>
      installCommand(() =>
        Promise.resolve({
          io,
          machine: machine.machine,
          workloads: namedBy,
          readInhibitDelay: () => Promise.resolve({ kind: 'known', maxNs: 5n * SECOND, ...setIn } as const),
          program: { program, loads, root, documentation },
          end: () => undefined,
        }),
      ),
    args,
  );
  expect(command.error).toBeUndefined();
  return command.out;
}

test('install names --logind-drop-in if the inhibit delay is too short', async () => {
  expect(await installs(playedMachine())).toContain('\n  evictd install --logind-drop-in: the inhibit delay of logind');
});

test('install names a drop-in that overrides the one that evictd writes', async () => {
  setIn = { setIn: '/etc/systemd/logind.conf.d/zzz.conf' };
  onTestFinished(() => {
    setIn = {};
  });
  expect(await installs(playedMachine(), '--logind-drop-in')).toContain(
    '\n  raise InhibitDelayMaxSec of logind in /etc/systemd/logind.conf.d/zzz.conf: its name sorts last, so it wins\n',
  );
});

test('install --logind-drop-in does not suggest the same option', async () => {
  expect(await installs(playedMachine(), '--logind-drop-in')).not.toContain('inhibit delay of logind');
});

test('install reloads logind for a drop-in that it has not loaded, and names the other cause of a short delay', async () => {
  const machine = playedMachine();
  await installs(machine, '--logind-drop-in');
  machine.ran.length = 0;
  const out = await installs(machine);
  expect(machine.ran).toContain(HUP);
  expect(out).toContain('zz-evictd.conf (unchanged)');
  expect(out).toContain('\n  evictd shutdown --plan: logind has not loaded');
});

test.each<[rule: string, there: string | undefined, evictable: string]>([
  ['that install writes', undefined, 'may be evicted (1): {"systemd":{"slices":["system.slice"],"units":[]}}'],
  ['that already exists', 'workloads: [{ cgroup: /mine }]\n', 'may be evicted (1): {"cgroup":"/mine"}'],
])('--profile shows what may be evicted with the configuration %s', async (_rule, there, evictable) => {
  const machine = playedMachine();
  const { configFile } = machine.machine.places;
  const named = there === undefined ? [] : ['--config', configFile];
  if (there !== undefined) put(configFile, there);
  const out = await installed(machine, '--profile', 'server', '--dry-run', ...named);
  expect(out).toContain(`${evictable}\nprotected (0): none\n\ndry run: nothing is changed\n`);
});
