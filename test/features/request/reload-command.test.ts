import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reloadCommand } from '../../../src/features/request/reload-command.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const REFUSED = ['evictd: 1 configuration error', 'config.yaml:1:2: EVICTD_CONFIG_UNKNOWN_KEY: unknown key x'];

/** What `evictd reload` of a file with an error writes to standard error. */
async function reload(env: Readonly<Record<string, string>>, isTTY: boolean, refused: readonly string[] | undefined): Promise<string> {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'config.yaml'), 'x: 1\n', { mode: 0o600 });
  let stderr = '';
  const io = { stdout: () => undefined, stderr: (text: string) => void (stderr += text), isTTY, env };
  const answer = { pid: 12, beganNs: 0n, refused, warnings: [] };
  const ask = () => Promise.resolve({ pid: 12, answer: () => answer });
  await reloadCommand({ io, ask, setExitCode: () => undefined }).parseAsync(['--config', join(directory, 'config.yaml')], { from: 'user' });
  return stderr;
}

const JOURNAL = { JOURNAL_STREAM: '8:1234' };

test.each<[rule: string, env: Readonly<Record<string, string>>, isTTY: boolean, refused: readonly string[] | undefined, said: boolean]>([
  ['a person reads them', {}, false, REFUSED, true],
  ['a terminal of a service', JOURNAL, true, REFUSED, true],
  ['the journal has them from evictd', JOURNAL, false, REFUSED, false],
  ['evictd was started with other files, so that only the command knows them', JOURNAL, false, undefined, true],
])('the errors of the configuration are printed once: %s', async (_rule, env, isTTY, refused, said) => {
  const stderr = await reload(env, isTTY, refused);
  expect(stderr.split('EVICTD_CONFIG_UNKNOWN_KEY').length - 1).toBe(said ? 1 : 0);
  expect(stderr).toMatch(refused ? /evictd \(process 12\) keeps its present configuration\n$/ : /was started with other files/);
});
