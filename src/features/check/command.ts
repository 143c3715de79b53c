import { Command, CommanderError, Option } from 'commander';
import type { Config, LoadedConfig } from '../../config/config.js';
import { filesystemOf, isDiskSignal, isOwnAmount, type Signal } from '../../core/signal/signal.js';
import { isListed, operandsOf, type Threshold } from '../../core/threshold/threshold.js';
import { UsageError } from '../../errors.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { usageMessage } from '../../cli/output/error-text.js';
import { withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { addConfigOptions, configForLooking, type ConfigOptions } from '../../cli/output/options.js';
import { checkJson } from './json-output.js';
import { checkNagios } from './nagios-output.js';
import * as prometheus from './prometheus-output.js';
import { checkReport, failedReport, type CheckReport, type Clock } from './check-report.js';
import * as narrow from './signal-thresholds.js';
import { styleFor } from '../../cli/output/style.js';
import { checkText } from './text-output.js';
import { filesystemsRead, type OpenReading } from '../../node/reading.js';
import { selectsPods } from '../../workloads/kinds/source-spec.js';

const FORMATS = ['text', 'json', 'nagios', 'prometheus'] as const;
type Format = (typeof FORMATS)[number];

export interface CheckDeps {
  readonly io: Io;
  readonly setExitCode: (code: number) => void;
  readonly open: OpenReading;
  /** Also asks the container runtimes where images lie, for at most 5 s. */
  readonly openPlaced: OpenReading;
}

interface CheckOptions extends ConfigOptions, narrow.SignalFlags {
  readonly output: Format;
}

/**
 * Every failure, also a usage error, is a report with exit code 3 in the chosen format: monitoring shows what it gets.
 */
export function checkCommand({ io, setExitCode, open, openPlaced }: CheckDeps): Command {
  const show = (report: CheckReport, format: Format): void => {
    io.stdout(formatReport(report, format, io));
    setExitCode(report.exit);
  };
  const command = new CheckCommand('check', (message, format) => {
    show(failedReport(new UsageError('EVICTD_USAGE', message, { hint: 'evictd check --help' }), clockNow()), format);
  })
    .description('compare the node with the thresholds once')
    .addOption(new Option('-o, --output <format>', 'output format').choices(FORMATS).default('text'))
    .option('--signal <signals>', 'compare only this signal, or several that must be short at once (separated by commas)')
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
      report = await checkNode({ ...loaded, config }, asksRuntimes(config) ? openPlaced : open, options.output, isNarrow);
    } catch (error) {
      report = failedReport(error, clockNow());
    }
    show(report, options.output);
  });
}

/** `evictd check`. */
export const check: MakeCommand = ({ io, setExitCode }) =>
  checkCommand({
    io,
    setExitCode,
    open: async (loaded) => (await import('../../node/open-reading.js')).openReading(loaded, 'probe'),
    openPlaced: async (loaded) => (await import('../../node/runtime-reading.js')).openNodeReading(loaded),
  });

/** Whether a threshold needs the filesystem of images, which only a container runtime knows. */
function asksRuntimes({ workloads, filesystems, thresholds }: Config): boolean {
  if (filesystems.imagefs !== undefined || filesystems.containerfs !== undefined) return false;
  if (!selectsPods(workloads)) return false;
  return thresholds.flatMap(operandsOf).some(({ signal }) => isDiskSignal(signal) && filesystemOf(signal) !== 'nodefs');
}

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

async function checkNode(loaded: LoadedConfig, open: OpenReading, format: Format, isNarrow: boolean): Promise<CheckReport> {
  const reading = await open(loaded);
  try {
    const { node, workloads } = reading;
    const { thresholds } = loaded.config;
    const operands = thresholds.flatMap(operandsOf);
    const filesystems = operands.some(({ signal }) => isDiskSignal(signal)) ? filesystemsRead(node) : undefined;
    // Only to report what can be armed, which one threshold per signal shows.
    const first = (wanted: Signal): Threshold[] =>
      thresholds.filter((threshold) => threshold.signal === wanted && !isListed(threshold)).slice(0, 1);
    const others = thresholds.filter((threshold) => isListed(threshold) || isOwnAmount(threshold.signal));
    node.arm([...first('memory.available'), ...first('allocatableMemory.available'), ...others], () => undefined);
    await filesystems;
    const observations = node.read();
    return checkReport({
      node: node.identity,
      observations: isNarrow ? narrow.narrowed(observations, thresholds) : observations,
      thresholds,
      isNarrow,
      notifiers: node.notifiers(),
      ...(format === 'prometheus' && { stalls: node.stalls?.() ?? [] }),
      problems: workloads.problems(),
      notices: loaded.notices,
      clock: clockNow(),
    });
  } finally {
    reading.close();
  }
}

function clockNow(): Clock {
  return { monotonicNs: process.hrtime.bigint(), wallMs: Date.now() };
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
