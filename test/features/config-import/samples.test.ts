import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROGRAMS, type ProgramName } from '../../../src/features/config-import/programs.js';
import { load } from '../../config/scratch.js';
import { commentsOf, converted } from './converted.js';

const SAMPLES = join(import.meta.dirname, 'samples');

/** A configuration as people use it, rewritten: the first line of each says what it is for. */
interface Sample {
  readonly program: ProgramName;
  readonly name: string;
  readonly files: readonly string[];
}

const PROGRAM_NAMES = Object.keys(PROGRAMS) as ProgramName[];

const samples: readonly Sample[] = PROGRAM_NAMES.flatMap((program) =>
  readdirSync(join(SAMPLES, program)).map((name) => ({ program, name, files: filesOf(join(SAMPLES, program, name)) })),
);

function filesOf(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name));
  return names.filter((name) => statSync(name).isFile()).sort();
}

function convertedSample({ program, files }: Sample): string {
  return converted(
    program,
    files.map((file) => ({ file, text: readFileSync(file, 'utf8') })),
  );
}

test.each(PROGRAM_NAMES)('there are at least five configurations of %s', (program) => {
  expect(samples.filter((sample) => sample.program === program).length).toBeGreaterThanOrEqual(5);
});

describe.each(samples.map((sample) => [`${sample.program} ${sample.name}`, sample] as const))('the sample %s', (_name, sample) => {
  test('is converted to a configuration that loads', () => {
    const { config, notices } = load({ 'config.yaml': convertedSample(sample) });
    expect(config).toBeDefined();
    // A unit file of the root slice makes the whole machine candidates, and a warning says so.
    expect(notices.filter(({ level, code }) => level === 'warn' && code !== 'EVICTD_CONFIG_WORKLOADS_ROOT')).toEqual([]);
  });

  test('loses no setting', () => {
    const comments = commentsOf(convertedSample(sample));
    const written = sample.files.flatMap((file) => WRITTEN[sample.program](readFileSync(file, 'utf8')));
    expect(written.length).toBeGreaterThan(0);
    expect(written.filter((setting) => !comments.includes(setting))).toEqual([]);
  });
});

/** Every setting of a file as a comment has it, found without the code that is tested. */
const WRITTEN: Readonly<Record<ProgramName, (text: string) => readonly string[]>> = {
  oomd: (text) => {
    const plain = text.replace(/^\s*\/\/.*$|\/\*.*?\*\//gm, '');
    const members = [...plain.matchAll(/"([\w-]+)":\s*("(?:[^"\\]|\\.)*"|[\w.]+)/g)];
    const groups = [...plain.matchAll(/\[\s*("[^"]*"),/g)].map(([, name = '']) => name);
    return [...members.map(([, key = '', value = '']) => shownMember(key, unquoted(value))), ...groups.map(unquoted)];
  },
  'systemd-oomd': (text) =>
    text
      .replace(/\\\n\s*/g, ' ')
      .split('\n')
      .filter((line) => /^\w+=/.test(line))
      .map((line) => line.replace(/\s+/g, ' ')),
  earlyoom: (text) => {
    const plain = text
      .replace(/^#.*$/gm, '')
      .replace(/^EARLYOOM_ARGS=/m, '')
      .replace(/\\\n|["']/g, ' ');
    // Written in other ways in small-server.args: -m20, -gd, --ignore=…
    return plain
      .split(/\s+/)
      .flatMap((word) => (word.startsWith('-') ? word.split('=') : [word]))
      .filter((word) => !/^$|^-(m20|gd)$/.test(word));
  },
  nohang: (text) =>
    text
      .split('\n')
      .filter((line) => /^[^\s#]/.test(line))
      .map((line) => line.trim().replace(/\s+/g, ' ')),
};

/** The names of rulesets and plugins stand alone. */
function shownMember(key: string, value: string): string {
  return key === 'name' ? value : `${key}=${value}`;
}

function unquoted(json: string): string {
  return json.startsWith('"') ? String(JSON.parse(json)) : json;
}
