import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { addonPath } from '../../src/native/index.js';
import { eventually } from '../support/eventually.js';
import { entryOf } from './children.js';
import { native, thrownBy } from './native.js';
import { Running } from './program.js';
import { spawnSync } from './spawn.js';

/** A service that stops on request and writes that to a file. */
const program = (name: string, file: string): string => `
  const { ServiceDispatcher } = require(${JSON.stringify(addonPath)});
  const service = new ServiceDispatcher(${JSON.stringify(name)}, (control) => {
    if (control === 'start') service.report('running');
    if (control !== 'stop') return;
    require('node:fs').writeFileSync(${JSON.stringify(file)}, 'stop requested');
    service.report('stopped');
    setTimeout(() => process.exit(0), 200);
  });
  setTimeout(() => undefined, 600_000);`;

const control = (...args: readonly string[]): void => {
  const { status, stdout } = spawnSync('sc.exe', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`sc.exe ${args.join(' ')}: ${stdout}`);
};

async function startService(name: string): Promise<{ readonly stopRequested: () => boolean }> {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  const [script, witness] = [join(directory, 'service.cjs'), join(directory, 'stop requested')];
  writeFileSync(script, program(name, witness));
  const found = (): ReturnType<typeof native.services>[number] | undefined => native.services().find((service) => service.name === name);
  let pid = 0;
  control('create', name, 'binPath=', `${process.execPath} ${script}`);
  onTestFinished(async () => {
    thrownBy(() => {
      native.stopService(name);
    }); // or it has ended
    await eventually(`${name} has ended`, () => entryOf(pid) === undefined); // the manager of Wine does not notice the end of a process
    control('delete', name);
    rmSync(directory, { recursive: true, force: true });
  });
  control('start', name);
  await eventually(`${name} runs`, () => found()?.state === 'running');
  pid = found()?.pid ?? 0;
  return { stopRequested: () => existsSync(witness) && readFileSync(witness, 'utf8') === 'stop requested' };
}

test.each<[rule: string, thresholds: object, isRequested: boolean]>([
  [
    'soft: is stopped by the manager within its grace period',
    {
      evictionHard: { 'memory.available': '1Mi', 'nodefs.available': '0%' },
      evictionSoft: { 'memory.available': '99.9%' },
      evictionSoftGracePeriod: { 'memory.available': '1s' },
      evictionMaxPodGracePeriod: 60,
    },
    true,
  ],
  ['hard: is terminated without a stop request', { evictionHard: { 'memory.available': '99.9%', 'nodefs.available': '0%' } }, false],
])('a service of the manager of Wine, %s', async (_rule, thresholds, isRequested) => {
  const name = `evictd-test-${String(process.pid)}-${isRequested ? 'soft' : 'hard'}`;
  const { stopRequested } = await startService(name);
  const guard = new Running({ ...thresholds, workloads: [{ service: name }] });
  expect(await guard.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name } });
  expect(stopRequested()).toBe(isRequested);
});
