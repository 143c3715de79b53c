import { Command } from 'commander';
import type { LoadedConfig } from '../config/config.js';
import type { Examination } from '../compose/doctor/examination.js';
import { worstOf, type CheckStatus } from '../doctor/check.js';
import type { MakeCommand } from './command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from './help.js';
import type { Io } from './io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from './options.js';
import { doctorJson, doctorText } from './output/doctor.js';
import { styleFor } from './output/style.js';
import { filesystemsRead } from './reading.js';

export interface DoctorDeps {
  readonly io: Io;
  readonly setExitCode: (code: number) => void;
  readonly examine: (loaded: LoadedConfig) => Promise<Examination>;
}

interface DoctorOptions extends ConfigOptions {
  readonly output: 'text' | 'json';
}

const EXIT: Readonly<Record<CheckStatus, number>> = { ok: 0, degraded: 1, broken: 2 };

export function doctorCommand({ io, setExitCode, examine }: DoctorDeps): Command {
  const command = new Command('doctor')
    .description('check what evictd needs on this machine, and how to fix what is missing')
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    about: ['Tries every mechanism and changes nothing. docs/doctor.md describes each check.'],
    examples: [
      'evictd doctor',
      'evictd doctor --workload-cgroup /workload.slice',
      `evictd doctor -o json | jq -r '.checks[] | select(.status != "ok") | .id'`,
    ],
    exit: { 0: 'every check is ok', 1: 'a check is degraded', 2: 'a check is broken', ...USAGE_AND_CONFIG },
  }).action(async ({ output, ...options }: DoctorOptions) => {
    const { checks, exitNow } = await examine(configFromOptions(options));
    io.stdout(output === 'json' ? doctorJson(checks) : doctorText(checks, styleFor(io)));
    const exit = EXIT[worstOf(checks)];
    setExitCode(exit);
    exitNow?.(exit);
  });
}

/** `evictd doctor`. */
export const doctor: MakeCommand = ({ io, setExitCode }) =>
  doctorCommand({
    io,
    setExitCode,
    examine: async (loaded) => (await import('../compose/doctor/examination.js')).examineMachine(loaded, filesystemsRead),
  });
