import { Command, CommanderError, Option } from 'commander';
import { UsageError } from '../../errors.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { usageMessage } from '../../cli/output/error-text.js';
import { withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { addConfigOptions, configForLooking, type ConfigOptions } from '../../cli/output/options.js';
import { checkJson } from './json-output.js';
import { checkNagios } from './nagios-output.js';
import * as prometheus from './prometheus-output.js';
import { checkNode, clockNow, READINGS_HERE, type CheckReadings } from './check-node.js';
import { failedReport, type CheckReport } from './check-report.js';
import * as narrow from './signal-thresholds.js';
import { styleFor } from '../../cli/output/style.js';
import { SIGNALS } from '../../core/signal/signal.js';
import { checkText } from './text-output.js';

const FORMATS = ['text', 'json', 'nagios', 'prometheus'] as const;
type Format = (typeof FORMATS)[number];

export interface CheckDeps extends CheckReadings {
  readonly io: Io;
  readonly setExitCode: (code: number) => void;
}

interface CheckOptions extends ConfigOptions, narrow.SignalFlags {
  readonly output: Format;
}

/**
 * Every failure, also a usage error, is a report with exit code 3 in the chosen format: monitoring shows what it gets.
 */
export function checkCommand({ io, setExitCode, ...readings }: CheckDeps): Command {
  const show = (report: CheckReport, format: Format): void => {
    io.stdout(formatReport(report, format, io));
    setExitCode(report.exit);
  };
  const command = new CheckCommand('check', (message, format) => {
    show(failedReport(new UsageError('EVICTD_USAGE', message, { hint: 'evictd check --help' }), clockNow()), format);
  })
    .description('compare the node with the thresholds once')
    .addOption(new Option('-o, --output <format>', 'output format').choices(FORMATS).default('text'))
    .addOption(
      new Option('--signal <signals>', 'compare only this signal, or several, separated by commas, that must be short at once')
        .choices(SIGNALS) // for the completion; a list is judged later
        .argParser(String),
    )
    .option('-w, --warning <values>', 'exit 1 beyond this value, one for each signal: 10%, 500Mi (needs --signal)')
    .option('-c, --critical <values>', 'exit 2 beyond this value, one for each signal (needs --signal)');
  return withHelp(addConfigOptions(command), {
    examples: [
      'evictd check                        a table',
      'evictd check -o nagios              one line with perfdata',
      'evictd check -o nagios --signal memory.available -w 10% -c 5%',
      'evictd check -o prometheus > f.prom for node_exporter (textfile collector)',
    ],
    exit: {
      0: 'no threshold is met',
      1: 'a soft threshold is met (its grace period is not awaited)',
      2: 'a hard threshold is met',
      3: 'unknown: any failure',
    },
  }).action(async (options: CheckOptions) => {
    let report: CheckReport;
    try {
      const isNarrow = (options.signal ?? options.warning ?? options.critical) !== undefined;
      const thresholds = isNarrow ? narrow.signalThresholds(options) : undefined;
      const { loaded } = configForLooking(options, io);
      const config = thresholds ? { ...loaded.config, thresholds } : loaded.config;
      report = await checkNode({ ...loaded, config }, readings, { withStalls: options.output === 'prometheus', isNarrow });
    } catch (error) {
      report = failedReport(error, clockNow());
    }
    show(report, options.output);
  });
}

export const check: MakeCommand = ({ io, setExitCode }) => checkCommand({ io, setExitCode, ...READINGS_HERE });

/** A command whose usage errors are reports. */
class CheckCommand extends Command {
  readonly #onUsageError: (message: string, format: Format) => void;

  constructor(name: string, onUsageError: (message: string, format: Format) => void) {
    super(name);
    this.#onUsageError = onUsageError;
  }

  override error(message: string, options: { code?: string } = {}): never {
    const format = FORMATS.find((candidate) => candidate === this.getOptionValue('output')) ?? 'text';
    this.#onUsageError(usageMessage(message), format);
    throw new CommanderError(3, options.code ?? 'commander.error', message);
  }
}

function formatReport(report: CheckReport, format: Format, io: Io): string {
  switch (format) {
    case 'text':
      return checkText(report, styleFor(io));
    case 'json':
      return checkJson(report);
    case 'nagios':
      return checkNagios(report);
    case 'prometheus':
      return prometheus.checkPrometheus(report);
  }
}
