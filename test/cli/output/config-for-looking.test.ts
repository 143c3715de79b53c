import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configForLooking } from '../../../src/cli/output/options.js';
import { loadConfig } from '../../../src/config/load.js';
import { ConfigError } from '../../../src/errors.js';
import { LastGoodConfiguration } from '../../../src/node/last-good-configuration.js';
import { scratch } from '../../config/scratch.js';

const LINUX = { os: 'linux' } as const;

function written(text: string): string {
  const file = join(scratch(), 'config.yaml');
  writeFileSync(file, text);
  return file;
}

function looked(options: Parameters<typeof configForLooking>[0]) {
  let said = '';
  const { loaded, errors } = configForLooking(options, { stderr: (text) => void (said += text) });
  return { config: loaded.config, errors, said };
}

const BROKEN = 'oomScoreAdj: nonsense\nrules: 7\n';

test('a correct configuration causes no warning', () => {
  expect(looked({ config: written('oomScoreAdj: rank') })).toMatchObject({ config: { oomScoreAdj: 'rank' }, errors: undefined, said: '' });
});

test("with errors in the files the command uses the running evictd's configuration, and one warning names the first error", () => {
  const runtimeDirectory = scratch();
  const kept = new LastGoodConfiguration(runtimeDirectory, 'machine');
  kept.keep(loadConfig({ platform: LINUX, file: written('oomScoreAdj: qos\nmonitoringInterval: 7s') }));
  const { config, errors, said } = looked({ config: written(BROKEN), runtimeDirectory, monitoringInterval: '8s' });
  expect(config.oomScoreAdj).toBe('qos');
  expect(config.monitoringIntervalNs).toBe(8_000_000_000n); // flags win
  expect(errors).toBeInstanceOf(ConfigError);
  expect(said).toMatch(
    /^evictd: warning: the configuration has 2 errors, so this command uses the configuration that evictd has in force: .*:1:14: EVICTD_CONFIG_[A-Z_]+ [^\n]*\n$/,
  );
});

test('with errors in the files and no running evictd the command uses the defaults', () => {
  const runtimeDirectory = scratch();
  const file = { file: '/etc/evictd.yaml', settings: { oomScoreAdj: 'qos' } };
  writeFileSync(join(runtimeDirectory, 'configuration-machine.json'), JSON.stringify({ files: file, flags: {} })); // of another shape
  const { config, said } = looked({ config: written(BROKEN), runtimeDirectory });
  expect(config.oomScoreAdj).toBe('off');
  expect(said).toContain('this command uses the defaults');
});

test('a missing file and a wrong flag are refused', () => {
  expect(() => looked({ config: '/nonexistent/evictd.yaml' })).toThrow(ConfigError);
  expect(() => looked({ evictionHard: ['nope<1'] })).toThrow(ConfigError);
});

test('the file in the runtime directory is readable by root only, and is removed at the end', () => {
  const runtimeDirectory = scratch();
  const kept = new LastGoodConfiguration(runtimeDirectory, 'machine');
  kept.keep(loadConfig({ platform: LINUX, file: written('oomScoreAdj: qos') }));
  const [name = ''] = readdirSync(runtimeDirectory);
  expect(statSync(join(runtimeDirectory, name)).mode & 0o777).toBe(0o600);
  kept.close();
  expect(existsSync(join(runtimeDirectory, name))).toBe(false);
  new LastGoodConfiguration('/nonexistent', 'machine').keep(loadConfig({ platform: LINUX, file: written('') })); // never throws
});

test('a link that was planted in a shared runtime directory is not followed', () => {
  const [runtimeDirectory, other] = [scratch(), written('of another program')];
  symlinkSync(other, join(runtimeDirectory, 'configuration-machine.json.new'));
  new LastGoodConfiguration(runtimeDirectory, 'machine').keep(loadConfig({ platform: LINUX, file: written('oomScoreAdj: qos') }));
  expect(readFileSync(other, 'utf8')).toBe('of another program');
  expect(readdirSync(runtimeDirectory)).toEqual(['configuration-machine.json']);
});
