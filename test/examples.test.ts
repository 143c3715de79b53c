import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { lintConfig } from '../src/config/lint-notices.js';
import { PROFILES, profileText } from '../src/features/install/profile/profiles.js';
import { load } from './config/scratch.js';

const SCHEMA = '/usr/lib/evictd/dist/evictd.schema.json';
const examples = readdirSync('examples')
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => [file, readFileSync(`examples/${file}`, 'utf8')] as const);

test('there are eleven examples', () => {
  expect(examples).toHaveLength(11);
});

test.each(examples)('%s is valid, and no key in it is without effect', (_file, text) => {
  const loaded = load({ 'config.yaml': text });
  const warnings = [...loaded.notices, ...lintConfig(loaded, undefined)].filter(({ level }) => level === 'warn');
  expect(warnings).toEqual([]);
  expect(loaded.config.workloads).not.toEqual([]);
});

test.each(PROFILES)('the example of the profile %s is what evictd config init writes', (profile) => {
  const written = profileText(profile, {
    schema: SCHEMA,
    endpoint: profile === 'kubelet' ? 'unix:///run/containerd/containerd.sock' : undefined,
  });
  expect(Object.fromEntries(examples)[`${profile}.yaml`]).toBe(written);
});

test('containers of a runtime with CRI are named as the runtime names them', () => {
  const text = profileText('containers', { schema: SCHEMA, endpoint: 'unix:///run/crio/crio.sock' });
  const loaded = load({ 'config.yaml': text });
  expect(loaded.config.workloads).toEqual([{ cri: { endpoint: 'unix:///run/crio/crio.sock' } }]);
  expect(lintConfig(loaded, undefined)).toEqual([]);
});
