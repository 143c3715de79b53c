import { describe, expect, test } from 'vitest';
import { OOMD_DEFAULTS, readOomdSettings, readOomRule } from '../../../src/core/systemd/oomd-settings.js';

const SECOND = 1_000_000_000n;

describe('oomd.conf is parsed', () => {
  test.each<[rule: string, texts: readonly string[], changed: object]>([
    ['nothing is set', [], {}],
    ['the commented file of the package', ['[OOM]\n#SwapUsedLimit=80%\n;DefaultMemoryPressureLimit=10%\n'], {}],
    ['the drop-in of Fedora', ['', '[OOM]\nDefaultMemoryPressureDurationSec=20s\n'], { pressureDurationNs: 20n * SECOND }],
    [
      'percent, permille and permyriad',
      ['[OOM]\nSwapUsedLimit=855‰\nDefaultMemoryPressureLimit=5050‱'],
      { swapUsedLimit: 0.855, pressureLimit: 0.505 },
    ],
    ['the last assignment counts', ['[OOM]\nSwapUsedLimit=80%\n', '[OOM]\nSwapUsedLimit = 70%\n'], { swapUsedLimit: 0.7 }],
    ['an empty value unsets', ['[OOM]\nSwapUsedLimit=80%\n', '[OOM]\nSwapUsedLimit=\n'], {}],
    ['a line in another section does not count', ['[Other]\nSwapUsedLimit=80%\n'], {}],
    ['text that is not a percentage', ['[OOM]\nSwapUsedLimit=80\nDefaultMemoryPressureLimit=101%'], {}],
    ['a duration in parts', ['[OOM]\nDefaultMemoryPressureDurationSec=1min 30s'], { pressureDurationNs: 90n * SECOND }],
    ['a duration without a unit', ['[OOM]\nDefaultMemoryPressureDurationSec=2.5'], { pressureDurationNs: 2_500_000_000n }],
    ['0 is the default', ['[OOM]\nDefaultMemoryPressureDurationSec=0'], {}],
    ['text that is not a duration', ['[OOM]\nDefaultMemoryPressureDurationSec=soon'], {}],
    ['a line that goes on', ['[OOM]\nDefaultMemoryPressureDurationSec=1min \\\n 1s'], { pressureDurationNs: 61n * SECOND }],
  ])('%s', (_rule, texts, changed) => {
    expect(readOomdSettings(texts)).toEqual({ ...OOMD_DEFAULTS, ...changed });
  });
});

describe('a rule file is parsed', () => {
  test.each<[rule: string, text: string, found: object | undefined]>([
    [
      'both conditions are set',
      'MemoryPressureAbove=40%\nSwapUsageMax=80%\nAction=kill-by-swap\nLastingSec=5s',
      { pressureAbove: 0.4, swapAbove: 0.8, action: 'kill-by-swap', lastingNs: 5n * SECOND },
    ],
    [
      'one condition is set, without a duration',
      'MemoryPressureAbove=40%\nAction=kill-by-pgscan',
      { pressureAbove: 0.4, action: 'kill-by-pgscan', lastingNs: 0n },
    ],
    ['the action is missing', 'MemoryPressureAbove=40%', undefined],
    ['an action that does not exist', 'MemoryPressureAbove=40%\nAction=kill', undefined],
    ['a rule without a condition is refused, because it would always kill', 'Action=kill-all', undefined],
    [
      'a rule with a condition that cannot be read is refused, even if it has a readable one',
      'MemoryPressureAbove=40\nSwapUsageMax=80%\nAction=kill-all',
      undefined,
    ],
    [
      'a rule with a swap condition that cannot be read is refused, even if its other condition is readable',
      'MemoryPressureAbove=40%\nSwapUsageMax=x\nAction=kill-all',
      undefined,
    ],
    ['a duration that cannot be read', 'MemoryPressureAbove=40%\nAction=kill-all\nLastingSec=x', undefined],
  ])('%s', (_rule, text, found) => {
    expect(readOomRule('a', `[Rule]\n${text}\n`)).toEqual(found && { name: 'a', ...found });
  });
});
