import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.js';
import { thresholdKind, valueText } from '../../../src/core/threshold/threshold.js';
import { errorOf, scratch } from '../scratch.js';

const HEAD = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
const kubelet = (settings: object): string => JSON.stringify({ ...HEAD, ...settings });

function written(files: Readonly<Record<string, string>>): string {
  const directory = scratch();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text, { mode: 0o644 });
  }
  return directory;
}

interface Case {
  readonly main?: object;
  /** By name. */
  readonly dropIns: Readonly<Record<string, object>>;
  readonly compatibility?: string;
}

function load({ main, dropIns, compatibility = 'kubelet' }: Case) {
  const files = Object.entries(dropIns).map(([name, settings]) => [`conf.d/${name}`, kubelet(settings)] as const);
  const directory = written({ 'config.json': kubelet(main ?? {}), 'conf.d/.keep.conf': kubelet({}), ...Object.fromEntries(files) });
  const loaded = loadConfig({
    platform: { os: 'linux' },
    file: join(directory, 'config.json'),
    directory: join(directory, 'conf.d'),
    flags: { compatibility },
  });
  return { ...loaded, directory };
}

const hardOf = ({ config }: ReturnType<typeof load>): string[] =>
  config.thresholds
    .flatMap((threshold) => (thresholdKind(threshold) === 'hard' ? [`${threshold.signal}<${valueText(threshold.value)}`] : []))
    .filter((text) => !text.startsWith('allocatable'))
    .sort();

const DEFAULTS = ['memory.available<100Mi', 'nodefs.available<10%', 'nodefs.inodesFree<5%'];

test.each<[rule: string, files: Case, hard: readonly string[]]>([
  [
    'entries of a map are merged over those of the file',
    {
      main: { evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' } },
      dropIns: { '40.conf': { evictionHard: { 'memory.available': '500Mi' } } },
    },
    ['memory.available<500Mi', 'nodefs.available<10%'],
  ],
  [
    'over the defaults if the file has no evictionHard',
    { dropIns: { '40.conf': { evictionHard: { 'nodefs.available': '7%' } } } },
    ['memory.available<100Mi', 'nodefs.available<7%', 'nodefs.inodesFree<5%'],
  ],
  [
    'the last name wins, in byte order, subdirectories at their place',
    {
      dropIns: {
        'b.conf': { evictionHard: { 'memory.available': '2Mi' } },
        'B.conf': { evictionHard: { 'memory.available': '1Mi' } },
        'a/z.conf': { evictionHard: { 'memory.available': '3Mi' } },
      },
    },
    ['memory.available<2Mi', ...DEFAULTS.slice(1)],
  ],
  [
    'null removes an entry',
    {
      main: { evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' } },
      dropIns: { '1.conf': { evictionHard: { 'nodefs.available': null } } },
    },
    ['memory.available<100Mi'],
  ],
  [
    'null removes a default',
    { dropIns: { '1.conf': { evictionHard: { 'nodefs.available': null, 'memory.available': '1Gi' } } } },
    ['memory.available<1Gi', 'nodefs.inodesFree<5%'],
  ],
  [
    'an empty map changes nothing',
    { main: { evictionHard: { 'memory.available': '1Gi' } }, dropIns: { '1.conf': { evictionHard: {} } } },
    ['memory.available<1Gi'],
  ],
  [
    'null removes the map, and no default returns',
    { main: { evictionHard: { 'memory.available': '1Gi' } }, dropIns: { '1.conf': { evictionHard: null } } },
    [],
  ],
  ['without drop-ins and evictionHard the defaults hold', { dropIns: {} }, DEFAULTS],
  [
    'names that do not end in .conf are ignored',
    { dropIns: { '1.yaml': { evictionHard: { 'memory.available': '1Gi' } }, '1.conf.bak': {} } },
    DEFAULTS,
  ],
  [
    'mergeDefaultEvictionSettings of a drop-in comes too late',
    { main: { evictionHard: { 'memory.available': '1Gi' } }, dropIns: { '1.conf': { mergeDefaultEvictionSettings: true } } },
    ['memory.available<1Gi'],
  ],
])('drop-ins of a kubelet: %s', (_rule, files, hard) => {
  expect(hardOf(load(files))).toEqual(hard);
});

test('a value from a drop-in has the position in the drop-in', () => {
  const { origins, directory, config } = load({
    main: { shutdownGracePeriod: '1s' },
    dropIns: { '40.conf': { shutdownGracePeriod: '45s' } },
    compatibility: 'evictd',
  });
  expect(origins.get('shutdownGracePeriod')?.origin).toMatchObject({ position: { file: join(directory, 'conf.d/40.conf'), line: 1 } });
  expect(config.shutdown).toMatchObject({ shutdownGracePeriodNs: 45_000_000_000n });
});

test.each<[rule: string, files: Readonly<Record<string, string>>, code: string, file: string]>([
  ['without apiVersion and kind', { 'conf.d/1.conf': '{}' }, 'EVICTD_CONFIG_KIND', 'conf.d/1.conf'],
  ['that is a configuration of evictd', { 'conf.d/1.conf': 'compatibility: kubelet' }, 'EVICTD_CONFIG_KIND', 'conf.d/1.conf'],
  ['that is not YAML', { 'conf.d/1.conf': '{' }, 'EVICTD_CONFIG_SYNTAX', 'conf.d/1.conf'],
  [
    'with a wrong value',
    { 'conf.d/1.conf': kubelet({ evictionHard: { 'memory.available': 'x' } }) },
    'EVICTD_CONFIG_THRESHOLD',
    'conf.d/1.conf',
  ],
  ['of a directory that does not exist', {}, 'EVICTD_CONFIG_FILE_UNREADABLE', 'conf.d'],
])('an error names the kubelet drop-in %s', (_rule, files, code, file) => {
  const directory = written({ 'config.json': kubelet({}), ...files });
  const error = errorOf(() =>
    loadConfig({ platform: { os: 'linux' }, file: join(directory, 'config.json'), directory: join(directory, 'conf.d') }),
  );
  expect(error.issues).toMatchObject([{ code, position: { file: join(directory, file) } }]);
});

test('a link to a drop-in directory is not followed, as in the kubelet', () => {
  const directory = written({ 'config.json': kubelet({}), 'real/1.conf': kubelet({}) });
  symlinkSync('real', join(directory, 'conf.d'));
  const error = errorOf(() =>
    loadConfig({ platform: { os: 'linux' }, file: join(directory, 'config.json'), directory: join(directory, 'conf.d') }),
  );
  expect(error.issues).toMatchObject([{ code: 'EVICTD_CONFIG_FILE_TYPE' }]);
});

test('a configuration of evictd is applied before the drop-ins of a kubelet, and its own drop-ins after them', () => {
  const directory = written({
    'config.yaml': 'evictionHard: {memory.available: 1Gi, nodefs.available: 1%}\n',
    'config.d/1.yaml': 'evictionHard: {nodefs.inodesFree: 3%}\n',
    'conf.d/1.conf': kubelet({ evictionHard: { 'memory.available': '2Gi', 'nodefs.inodesFree': '2%' } }),
  });
  const loaded = loadConfig({ platform: { os: 'linux' }, file: join(directory, 'config.yaml'), directory: join(directory, 'conf.d') });
  expect(hardOf({ ...loaded, directory })).toEqual(['memory.available<2Gi', 'nodefs.available<1%', 'nodefs.inodesFree<3%']);
});

test.each<[rule: string, main: string, files: Readonly<Record<string, string>>, unread: string | undefined]>([
  ['NAME.d of the whole name', 'config.json', { 'config.json.d/40-nodeadm.conf': '' }, 'config.json.d'],
  ['NAME.d of a .conf', 'kubelet.conf', { 'kubelet.conf.d/1.conf': '' }, 'kubelet.conf.d'],
  ['a file that is a drop-in itself', 'kubelet.conf.d/00.conf', { 'kubelet.conf.d/10.conf': '' }, 'kubelet.conf.d'],
  ['the directory has no drop-in', 'config.json', { 'config.json.d/README': '' }, undefined],
])('drop-ins that are not read cause a warning: %s', (_rule, main, files, unread) => {
  const directory = written({ [main]: kubelet({}), ...files });
  const { notices } = loadConfig({ platform: { os: 'linux' }, file: join(directory, main) });
  const found = notices.filter(({ level }) => level === 'warn');
  expect(found.map(({ code, hint }) => [code, hint?.split(' ').at(-1)])).toEqual(
    unread === undefined ? [] : [['EVICTD_CONFIG_DIR_UNREAD', join(directory, unread)]],
  );
});
