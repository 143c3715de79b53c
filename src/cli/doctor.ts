import { Command, Option } from 'commander';
import type { LoadedConfig } from '../config/config.js';
import type { Examination } from '../compose/doctor/examination.js';
import { worstOf, type CheckStatus } from '../doctor/check.js';
import type { Io } from './io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from './options.js';
import { doctorJson, doctorText } from './output/doctor.js';
import { styleFor } from './output/style.js';

export interface DoctorDeps {
  readonly io: Io;
  readonly setExitCode: (code: number) => void;
  readonly examine: (loaded: LoadedConfig) => Promise<Examination>;
}

interface DoctorOptions extends ConfigOptions {
  readonly output: 'text' | 'json';
}

const EXIT: Readonly<Record<CheckStatus, number>> = { ok: 0, degraded: 1, broken: 2 };

/** `evictd doctor`: how well evictd can do its job here. */
export function doctorCommand({ io, setExitCode, examine }: DoctorDeps): Command {
  const command = new Command('doctor')
    .description('how well evictd can do its job on this machine, what is missing, and how to get it')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'));
  return addConfigOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  evictd doctor                                    with the configuration that run would have, as root
  evictd doctor --workload-cgroup /workload.slice
  evictd doctor -o json | jq -r '.checks[] | select(.status != "ok") | .id'

Nothing is changed: what is armed to see whether it can be is closed again. docs/doctor.md has every check.
Exit: 0 nothing worse than ok, 1 something is degraded, 2 something is broken; 64 usage, 78 configuration.`,
    )
    .action(async ({ output, ...options }: DoctorOptions) => {
      const { checks, exitNow } = await examine(configFromOptions(options));
      io.stdout(output === 'json' ? doctorJson(checks) : doctorText(checks, styleFor(io)));
      const exit = EXIT[worstOf(checks)];
      setExitCode(exit);
      exitNow?.(exit);
    });
}
