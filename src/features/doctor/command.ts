import { Command, Option } from 'commander';
import type { LoadedConfig } from '../../config/config.js';
import type { Examination } from './open.js';
import { broken, worstOf, type CheckStatus, type Check } from './check.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { addConfigOptions, configForLooking, counted, type ConfigOptions } from '../../cli/output/options.js';
import { styleFor, type Colour, type Style } from '../../cli/output/style.js';
import { formatIssue } from '../../cli/output/error-text.js';
import type { ConfigError } from '../../errors.js';
import { filesystemsRead } from '../../node/reading.js';
import { jsonDocument } from '../../core/name/json-text.js';
import { printable } from '../../core/name/printable.js';

export interface DoctorDeps {
  readonly io: Io;
  readonly setExitCode: (code: number) => void;
  readonly examine: (loaded: LoadedConfig) => Promise<Examination>;
}

interface DoctorOptions extends ConfigOptions {
  readonly output: 'text' | 'json';
  readonly fix?: boolean;
}

const EXIT: Readonly<Record<CheckStatus, number>> = { ok: 0, degraded: 1, broken: 2 };

export function doctorCommand({ io, setExitCode, examine }: DoctorDeps): Command {
  const command = new Command('doctor')
    .description('check what evictd needs on this machine')
    .addOption(outputOption())
    .addOption(new Option('--fix', 'print the commands that fix what is not ok; run none').conflicts('output'));
  return withHelp(addConfigOptions(command), {
    about: ['Tries every mechanism and changes nothing. docs/doctor.md describes each check.'],
    examples: [
      'evictd doctor',
      'evictd doctor --workload-cgroup /workload.slice',
      'evictd doctor --fix >fix.sh   to read it, and then to run it',
      `evictd doctor -o json | jq -r '.checks[] | select(.status != "ok") | .id'`,
    ],
    exit: { 0: 'every check is ok', 1: 'a check is degraded', 2: 'a check is broken', ...USAGE_AND_CONFIG },
  }).action(async ({ output, fix, ...options }: DoctorOptions) => {
    const { loaded, errors } = configForLooking(options, io);
    const { checks: examined, exitNow } = await examine(loaded);
    const checks = errors ? [brokenConfig(errors), ...examined] : examined;
    io.stdout(fix ? fixScript(checks) : output === 'json' ? doctorJson(checks) : doctorText(checks, styleFor(io)));
    const exit = EXIT[worstOf(checks)];
    setExitCode(exit);
    exitNow?.(exit);
  });
}

/** The configuration has errors, and the other checks use another one. */
function brokenConfig(errors: ConfigError): Check {
  const summary = `the configuration has ${counted(errors)}: evictd does not start with it, and does not reload it`;
  return broken('config', summary, 'evictd config check', { errors: errors.issues.map(formatIssue) });
}

export const doctor: MakeCommand = ({ io, setExitCode }) =>
  doctorCommand({
    io,
    setExitCode,
    examine: async (loaded) => (await import('./open.js')).examineMachine(loaded, filesystemsRead),
  });

/** A script: what is not ok as comments, each with its commands, or with what a person must decide. */
function fixScript(checks: readonly Check[]): string {
  const found = checks.filter(({ status }) => status !== 'ok');
  if (found.length === 0) return '# every check is ok\n';
  const parts = found.map(({ id, status, summary, fix, commands }) => {
    const how = commands.length > 0 ? commands : [`# by hand: ${printable(fix ?? '')}`];
    return [`# ${id} (${status}): ${printable(summary)}`, ...how].join('\n');
  });
  return `${parts.join('\n\n')}\n`;
}

const COLOUR: Readonly<Record<CheckStatus, Colour>> = { ok: 'green', degraded: 'yellow', broken: 'red' };

const STATUSES = ['broken', 'degraded', 'ok'] as const satisfies readonly CheckStatus[];

const STATUS_WIDTH = Math.max(...STATUSES.map(({ length }) => length));

/** A line per check in groups, each fix below its check, and the overall status. */
function doctorText(checks: readonly Check[], style: Style): string {
  const width = Math.max(...checks.map(({ id }) => id.length));
  const lines = checks.flatMap((check, index) => {
    const isFirst = groupOf(check) !== groupOf(checks[index - 1]);
    return [...(isFirst && index > 0 ? [''] : []), ...linesOf(check, width, style)];
  });
  return `${[...lines, '', verdict(checks, style)].join('\n')}\n`;
}

function doctorJson(checks: readonly Check[]): string {
  const listed = checks.map(({ id, status, summary, fix, commands, details }) => ({
    id,
    status,
    summary,
    ...(fix !== undefined && { fix, commands }),
    details,
  }));
  return jsonDocument({ status: worstOf(checks), checks: listed });
}

function linesOf({ id, status, summary, fix }: Check, width: number, style: Style): string[] {
  const margin = ' '.repeat(STATUS_WIDTH + 2 + width + 2);
  const line = `${style(COLOUR[status], status.padEnd(STATUS_WIDTH))}  ${id.padEnd(width)}  ${printable(summary)}`;
  return fix === undefined ? [line] : [line, `${margin}${style('dim', 'fix:')} ${printable(fix)}`];
}

/** 'workloads[0]' and 'workloads.evictable' are one group. */
function groupOf(check: Check | undefined): string | undefined {
  return check && /^\w+/.exec(check.id)?.[0];
}

/** 'broken: 1 broken, 2 degraded, 20 ok', then the broken checks again. */
function verdict(checks: readonly Check[], style: Style): string {
  const status = worstOf(checks);
  const counts = STATUSES.map((each) => `${String(checks.filter((check) => check.status === each).length)} ${each}`).join(', ');
  const worst = checks.filter((check) => check.status === 'broken').map(({ summary }) => `\n  ${style('red', printable(summary))}`);
  return `${style(COLOUR[status], `${status}:`)} ${counts}${worst.join('')}`;
}
