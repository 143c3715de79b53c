import { describe, expect, test } from 'vitest';
import { formatIssue } from '../../../src/cli/output/error-text.js';
import { errorOf } from '../../config/scratch.js';
import { converted, convertedText, settingsOf } from './converted.js';
import type { ProgramName } from '../../../src/features/config-import/programs.js';

/** `LINE:COLUMN CODE` and the beginning of the message, without the hint. */
function issuesOf(from: ProgramName, text: string): string[] {
  return errorOf(() => convertedText(from, text)).issues.map(({ code, position, message }) => {
    const place = formatIssue({ code: '', message: '', position }).trim().replace(/:$/, '').replace(`${from}:`, '');
    return `${place} ${code.replace('EVICTD_IMPORT_', '')} ${message}`;
  });
}

const detectors = (args: string): string =>
  `{"rulesets": [{"name": "x", "detectors": [["g", {"name": "pressure_above", "args": {${args}}}]]}]}`;

test.each<[from: ProgramName, text: string, issues: readonly string[]]>([
  ['oomd', '', ['1:1 SYNTAX the file is empty']],
  ['oomd', '// nothing\n', ['1:1 SYNTAX the file is empty']],
  ['oomd', '{"rulesets": [}', ['1:15 SYNTAX ']],
  ['oomd', '{"a": 1}', ['1:1 SYNTAX no key "rulesets"']],
  ['oomd', '[]', ['1:1 VALUE expected an object with "rulesets"']],
  ['oomd', '{"rulesets": {}}', ['1:14 VALUE expected a list of "rulesets"']],
  ['oomd', 'rulesets: []', ['1:1 SYNTAX not a value of JSON: "rulesets"']],
  ['oomd', '"rulesets": []', ['1:1 SYNTAX expected { or [']],
  ['oomd', "{'rulesets': []}", ['1:2 SYNTAX expected a key in double quotes']],
  ['oomd', '{"rulesets": [], "rulesets": []}', ['1:18 SYNTAX a key of this object occurs twice']],
  ['oomd', '{"rulesets": [\n  nope\n]}', ['2:3 SYNTAX not a value of JSON: "nope"']],
  ['oomd', '{"rulesets": [\n  "a"\n]}', ['2:3 VALUE expected a ruleset: an object']],
  ['oomd', '{"rulesets"}', ['1:2 SYNTAX expected a value of "rulesets"']],
  ['oomd', '{"rulesets": []} /* no end', ['1:18 SYNTAX this comment has no end']],
  ['oomd', `{"rulesets": ${'['.repeat(40)}${']'.repeat(40)}}`, ['1:45 SYNTAX nested deeper than 32 levels']],
  ['oomd', '{"rulesets": [{"name": ["x"]}]}', ['1:24 VALUE expected "name": a text']],
  ['oomd', '{"rulesets": [{"actions": [{"args": {}}]}]}', ['1:28 VALUE expected a plugin with "name"']],
  [
    'oomd',
    '{"rulesets": [{"detectors": [{"name": "stop"}]}]}',
    ['1:30 VALUE expected a group of detectors: a list of its name and its detectors'],
  ],
  [
    'oomd',
    '{"rulesets": [{"actions": [{"name": "stop", "args": {"a": []}}]}]}',
    ['1:59 VALUE expected an argument: a text, a number, true or false'],
  ],
])('%s: %s', (from, text, expected) => {
  const issues = issuesOf(from, text);
  for (const [index, issue] of expected.entries()) expect(issues[index]).toContain(issue);
});

test('a line before an oomd document is one issue', () => {
  expect(issuesOf('oomd', '\n@generated x: y\n{"a": [], "b": 1}')).toEqual(['2:1 SYNTAX line 2 is not JSON: remove it']);
});

test('all wrong and missing arguments of oomd are reported at once', () => {
  expect(issuesOf('oomd', detectors('"cgroup": "a", "threshold": "-1", "duration": "5000", "resource": "cpu"'))).toEqual([
    '1:113 VALUE pressure_above threshold: "-1" is not a number from 0 to 100',
    '1:131 VALUE pressure_above duration: "5000" is not a number from 0 to 3600',
    '1:151 VALUE pressure_above resource: "cpu" is not one of memory, io',
  ]);
  expect(issuesOf('oomd', detectors(''))).toEqual([
    '1:49 VALUE the argument "threshold" of pressure_above is missing',
    '1:49 VALUE the argument "resource" of pressure_above is missing',
    '1:49 VALUE the argument "duration" of pressure_above is missing',
  ]);
});

test.each(['kill_by_swap_usage', 'freeze'])('an action of oomd says where it acts: %s', (name) => {
  const text = `{"rulesets": [{"name": "x", "actions": [{"name": "${name}", "args": {}}]}]}`;
  expect(issuesOf('oomd', text)).toEqual([`1:41 VALUE the argument "cgroup" of ${name} is missing`]);
});

describe('JSON is parsed as oomd parses it', () => {
  test.each<[rule: string, text: string]>([
    ['tabs, comments between values, a trailing comma', '{\t"rulesets":\t/* a "{" */ [\n// [\n], }'],
    ['comment characters in a string are not a comment', '{"rulesets": [], "a": "// no /* comment", "b": "\\"// "}'],
  ])('%s', (_rule, text) => {
    expect(settingsOf(convertedText('oomd', text))).toBe('');
  });
});

test.each<[from: ProgramName, text: string, issues: readonly string[]]>([
  ['systemd-oomd', 'SwapUsedLimit=90%', ['1:1 SYNTAX SwapUsedLimit= is outside of any section']],
  ['systemd-oomd', '[OOM]\n  what is this', ['2:1 SYNTAX not an assignment: "what is this"']],
  ['systemd-oomd', '{"rulesets": []}', ['1:1 SYNTAX not an assignment: "{\\"rulesets\\": []}"']],
  ['earlyoom', '-m 5 -x', ['1:6 OPTION not an option of earlyoom: -x']],
  ['earlyoom', '-m 5 --avoid', ['1:6 VALUE --avoid has no value']],
  ['earlyoom', '-m 5 what', ['1:6 OPTION not an option: "what"']],
  ['earlyoom', '-m five,5', ['1:4 VALUE a limit of earlyoom: "five" is not a number from 0 to 100']],
  [
    'earlyoom',
    '-m 200 -s 0,0',
    ['1:4 VALUE a limit of earlyoom: "200" is not a number from 0 to 100', '1:11 VALUE a limit of earlyoom: "0,0" is not above 0'],
  ],
  ['earlyoom', '-M 9,5,3', ['1:4 VALUE a limit of earlyoom: "5,3" is not a number from 0']],
  ['earlyoom', "-m 5 --avoid 'x", ["1:14 SYNTAX this ' has no end"]],
  ['earlyoom', '-N script.sh', ['1:4 VALUE -N: "script.sh" is not an absolute path']],
  ['earlyoom', 'OTHER=1\n', ['1:1 SYNTAX EARLYOOM_ARGS is not set']],
  ['earlyoom', '# c\nEARLYOOM_ARGS="-m 5 \\\n -q"', ['3:2 OPTION not an option of earlyoom: -q']],
  ['earlyoom', 'EARLYOOM_ARGS=-m 5', ['1:15 VALUE -m has no value', '1:18 SYNTAX not an assignment: "5"']],
  ['nohang', '', ['1:1 SYNTAX no setting']],
  ['nohang', '# only a comment\n and this', ['1:1 SYNTAX no setting']],
  ['nohang', 'a = 1\nnothing\n', ['2:1 SYNTAX not a setting: "nothing"']],
  ['nohang', 'a = 1\na = 2', ['2:5 VALUE a is set twice']],
  ['nohang', 'soft_threshold_min_mem = 5', ['1:26 VALUE soft_threshold_min_mem: "5" is not a percentage (5 %) or MiB (300 M)']],
  [
    'nohang',
    'psi_checking_enabled = yes\n@BADNESS_ADJ_RE_NAME foo\nsoft_threshold_max_psi = 101',
    [
      '2:22 VALUE @BADNESS_ADJ_RE_NAME: "foo" is not ADJUSTMENT /// REGULAR EXPRESSION',
      '3:26 VALUE soft_threshold_max_psi: "101" is not a number from 0 to 100',
    ],
  ],
  [
    'nohang',
    'psi_checking_enabled = yes\nsoft_threshold_max_psi = 10\nhard_threshold_max_psi = 90',
    ['1:24 VALUE psi_checking_enabled: "yes" is not one of True, False'],
  ],
])('%s: %s', (from, text, issues) => {
  expect(issuesOf(from, text)).toEqual(issues);
});

test.each<[oomd: string, unit: string, message: string]>([
  ['SwapUsedLimit=90', 'ManagedOOMSwap=kill', 'SwapUsedLimit=: "90" is not a fraction from 0% to 100%'],
  ['SwapUsedLimit=101%', 'ManagedOOMSwap=kill', 'SwapUsedLimit=: "101%" is not a fraction from 0% to 100%'],
  [
    '',
    'ManagedOOMMemoryPressure=kill\nManagedOOMMemoryPressureDurationSec=2 fortnights',
    'ManagedOOMMemoryPressureDurationSec=: "2 fortnights" is not',
  ],
  [
    '',
    'ManagedOOMMemoryPressure=kill\nManagedOOMMemoryPressureDurationSec=2h',
    'ManagedOOMMemoryPressureDurationSec=: "2h" is not a time span of at most',
  ],
])('systemd-oomd: %s %s', (oomd, unit, message) => {
  const files = [
    { file: 'oomd.conf', text: `[OOM]\n${oomd}` },
    { file: 'a.slice', text: `[Slice]\n${unit}` },
  ];
  const { issues } = errorOf(() => converted('systemd-oomd', files));
  expect(issues.map((issue) => issue.message)).toEqual([expect.stringContaining(message)]);
});
