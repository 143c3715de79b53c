import type { MemoryFacts, PressureFacts } from '../../facts.js';
import { numberIn, textIfAny } from './text-file.js';
import { closeSync, openSync, readSync, readFileSync } from 'node:fs';
import { release } from 'node:os';
import { gunzipSync } from 'node:zlib';
import { attempt, errnoName, messageOf } from '../../../errors.js';
import type { Binding } from '../../../native/binding.js';
import { allowedPsiWindow, SHORTEST_PSI_WINDOW_US } from '../pressure/pressure.js';

export function readMemory(read: typeof textIfAny = textIfAny): MemoryFacts {
  const meminfo = read('/proc/meminfo') ?? '';
  const bytes = (key: string): bigint | undefined => {
    const kibibytes = new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(meminfo)?.[1];
    return kibibytes === undefined ? undefined : BigInt(kibibytes) * 1024n;
  };
  const swaps = read('/proc/swaps');
  return {
    overcommitMemory: numberIn(read('/proc/sys/vm/overcommit_memory')),
    totalBytes: bytes('MemTotal') ?? 0n,
    commitLimitBytes: bytes('CommitLimit'),
    swapBytes: bytes('SwapTotal'),
    swaps: swaps === undefined ? undefined : swapNames(swaps),
    swappiness: numberIn(read('/proc/sys/vm/swappiness')),
  };
}

/** The first column below the heading; the kernel writes blanks in it as \040. */
export function swapNames(swaps: string): string[] {
  return swaps
    .split('\n')
    .slice(1)
    .flatMap((line) => /^\S+/.exec(line)?.[0] ?? []);
}

const FILE = '/proc/pressure/memory';

/** @param native  undefined: the window cannot be tried */
export function readPressure(native: Pick<Binding, 'PsiTrigger'> | undefined): PressureFacts {
  const state = stateOf(FILE);
  const config = textIfAny(`/boot/config-${release()}`) ?? attempt(() => gunzipSync(readFileSync('/proc/config.gz')).toString('latin1'));
  return {
    state,
    built: config === undefined ? undefined : pressureBuilt(config),
    parameter: pressureParameter(textIfAny('/proc/cmdline') ?? ''),
    window: state === 'on' && native ? windowOf(native) : undefined,
  };
}

/** `psi=` on the kernel's command line: the last one counts. */
export function pressureParameter(cmdline: string): string | undefined {
  return [...cmdline.matchAll(/(?:^|\s)psi=(\S*)/g)].at(-1)?.[1];
}

/** @param config  a kernel's .config */
export function pressureBuilt(config: string): PressureFacts['built'] {
  if (!/^CONFIG_PSI=y$/m.test(config)) return 'without';
  return /^CONFIG_PSI_DEFAULT_DISABLED=y$/m.test(config) ? 'off by default' : 'on';
}

/** Finds it with triggers that are closed at once. */
function windowOf(native: Pick<Binding, 'PsiTrigger'>): NonNullable<PressureFacts['window']> {
  try {
    return { shortestUs: allowedPsiWindow(native, FILE, 'some', SHORTEST_PSI_WINDOW_US) };
  } catch (error) {
    return { refused: messageOf(error) };
  }
}

/** The state of PSI: if it is off, newer kernels have no files, older ones (4.20 to 5.x) answer EOPNOTSUPP. */
function stateOf(path: string): PressureFacts['state'] {
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, Buffer.alloc(256));
      return 'on';
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return errnoName(error) === 'EOPNOTSUPP' ? 'off' : 'absent';
  }
}
