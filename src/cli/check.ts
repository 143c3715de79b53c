import { Command, CommanderError, Option } from 'commander';
import { FILESYSTEM_PATIENCE_MS, Patience } from '../compose/doctor/deadline.js';
import type { Config, LoadedConfig } from '../config/config.js';
import { filesystemOf } from '../core/disk-holding.js';
import { isDiskSignal, type Signal } from '../core/signal.js';
import { isListed, operandsOf, type Threshold } from '../core/threshold.js';
import { UsageError } from '../errors.js';
import type { Node } from '../monitor/ports.js';
import type { Io } from './io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from './options.js';
import { checkJson } from './output/json.js';
import { checkNagios } from './output/nagios.js';
import { checkPrometheus } from './output/prometheus.js';
import { checkReport, failedReport, type CheckReport, type Clock } from './output/report.js';
import { styleFor } from './output/style.js';
import { checkText } from './output/text.js';
import type { OpenReading } from './reading.js';

/** Read only where a threshold asks for them. */
const OWN: readonly Signal[] = ['memory.kernelAvailable', 'swap.available'];

const FORMATS = ['text', 'json', 'nagios', 'prometheus'] as const;
type Format = (typeof FORMATS)[number];

export interface CheckDeps {
  readonly io: Io;
  readonly setExitCode: (code: number) => void;
  readonly open: OpenReading;
  /** Asks the container runtimes of the sources where images lie, for 5 s at most. */
  readonly openPlaced: OpenReading;
}

interface CheckOptions extends ConfigOptions {
  readonly output: Format;
}

/** `evictd check`. Every failure is a report with exit code 3 in the chosen format, a wrong command line, too: monitoring shows what it gets. */
export function checkCommand({ io, setExitCode, open, openPlaced }: CheckDeps): Command {
  const show = (report: CheckReport, format: Format): void => {
    io.stdout(formatReport(report, format, io));
    setExitCode(report.exit);
  };
  const command = new CheckCommand('check', (message, format) => {
    show(failedReport(new UsageError('EVICTD_USAGE', message, { hint: 'evictd check --help shows the options' }), clockNow()), format);
  })
    .description('check the pressure on the node once, now')
    .addOption(new Option('-o, --output <format>', 'output format').choices(FORMATS).default('text'));
  return addConfigOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  evictd check                                     a table for people
  evictd check -o nagios                           one line with perfdata, for Nagios, Icinga and the like
  evictd check -o prometheus > pressure.prom       for node_exporter's textfile collector
  evictd check -o json --eviction-hard 'memory.available<20%'

Exit: 0 ok, 1 a soft threshold is met (grace periods are not waited for), 2 a hard threshold is met, 3 unknown: any failure.`,
    )
    .action(async (options: CheckOptions) => {
      let report: CheckReport;
      try {
        const loaded = configFromOptions(options);
        report = await check(loaded, asksRuntimes(loaded.config) ? openPlaced : open);
      } catch (error) {
        report = failedReport(error, clockNow());
      }
      show(report, options.output);
    });
}

/** Nothing but a threshold needs to know it here, so that nobody waits for a runtime otherwise. */
function asksRuntimes({ workloads, filesystems, thresholds }: Config): boolean {
  if (filesystems.imagefs !== undefined || filesystems.containerfs !== undefined) return false;
  if (!workloads.some((source) => 'cri' in source)) return false;
  return thresholds.flatMap(operandsOf).some(({ signal }) => isDiskSignal(signal) && filesystemOf(signal) !== 'nodefs');
}

/** A command whose usage errors are results. */
class CheckCommand extends Command {
  readonly #onUsageError: (message: string, format: Format) => void;

  constructor(name: string, onUsageError: (message: string, format: Format) => void) {
    super(name);
    this.#onUsageError = onUsageError;
  }

  override error(message: string, options: { code?: string } = {}): never {
    const format = FORMATS.find((candidate) => candidate === this.getOptionValue('output')) ?? 'text';
    this.#onUsageError(message.replace(/^error: /, ''), format);
    throw new CommanderError(3, options.code ?? 'commander.error', message);
  }
}

async function check(loaded: LoadedConfig, open: OpenReading): Promise<CheckReport> {
  const reading = await open(loaded);
  try {
    const { node, workloads } = reading;
    const { thresholds } = loaded.config;
    const operands = thresholds.flatMap(operandsOf);
    const filesystems = operands.some(({ signal }) => isDiskSignal(signal)) ? filesystemsRead(node) : undefined;
    // Only to say what could be armed; closed again below. One threshold of a signal says it, and each costs the kernel a grace period of RCU (15 ms).
    const first = (wanted: Signal): Threshold[] =>
      thresholds.filter((threshold) => threshold.signal === wanted && !isListed(threshold)).slice(0, 1);
    const others = thresholds.filter((threshold) => isListed(threshold) || OWN.includes(threshold.signal));
    node.arm([...first('memory.available'), ...first('allocatableMemory.available'), ...others], () => undefined);
    await filesystems;
    const observations = node.read();
    return checkReport({
      node: node.identity,
      observations,
      thresholds,
      notifiers: node.notifiers(),
      problems: workloads.problems(),
      notices: loaded.notices,
      clock: clockNow(),
    });
  } finally {
    reading.close();
  }
}

/** Resolves when the filesystems have answered, or had the time to: one that hangs is a result, too. */
export async function filesystemsRead(node: Node): Promise<void> {
  await new Patience().within(
    FILESYSTEM_PATIENCE_MS,
    () =>
      new Promise<void>((resolve) => {
        node.requestFilesystems((outstanding) => {
          if (outstanding === 0) resolve();
        });
      }),
  );
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
      return checkPrometheus(report);
  }
}
