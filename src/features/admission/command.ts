import { Command, CommanderError, Option, type ParseOptionsResult } from 'commander';
import { configuredPlatform } from '../../node/configured-platform.js';
import type { NamedWorkload } from './open.js';
import { cgroupText, TextError } from '../../config/value/value-text.js';
import { admit as decide, applicantOf, SHUTDOWN_REFUSAL, type Applicant } from './admission.js';
import type { QosClass } from '../../core/workload/workload.js';
import { isWindowsPath } from '../../core/windows/windows-path.js';
import { UsageError } from '../../errors.js';
import { workloadOfPod } from '../../kubernetes/pod.js';
import { readDocument } from '../../kubernetes/document-file.js';
import { formatError, usageMessage } from '../../cli/output/error-text.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, SHARED_GROUPS, withHelp } from '../../cli/output/help.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from '../../cli/output/options.js';
import type { PreemptOptions } from './preempt.js';
import { admissionJson, admissionText, isAdmitted, type AdmissionReport } from './admission-output.js';

const QOS: ReadonlyMap<string, QosClass> = new Map([
  ['guaranteed', 'Guaranteed'],
  ['burstable', 'Burstable'],
  ['best-effort', 'BestEffort'],
]);

/** Options that need the module preempt.ts. */
const PREEMPT_OPTIONS = ['preempt', 'dryRun', 'requests', 'priorityClass', 'timeout'] as const satisfies readonly (keyof PreemptOptions)[];

const EXIT_ADMITTED = 0;
const EXIT_REFUSED = 1;
const FAIL_CLOSED = '--fail-closed';
/** A misspelt --fail-closed counts as given. */
const FAIL_CLOSED_PREFIX = '--fail';

/** More than the API server stores per object. */
const POD_FILE = { maxBytes: 4 * 1024 * 1024, hint: 'use the output of kubectl get pod NAME -o json' };

interface AdmitOptions extends ConfigOptions, PreemptOptions {
  readonly name?: string;
  readonly path?: string;
  readonly qos?: string;
  readonly pod?: string;
  readonly output: string;
}

/** Every failure, also a usage error, is an answer: a unit must not stay down because `evictd admit` failed. */
export const admit: MakeCommand = ({ io, setExitCode }) => {
  const show = (report: AdmissionReport, output: unknown): number => {
    const exit = isAdmitted(report) ? EXIT_ADMITTED : EXIT_REFUSED;
    if (!report.known) {
      io.stderr(`${formatError(report.error)}evictd: warning: ${consequence(report)}\n`);
    }
    io.stdout(output === 'json' ? admissionJson(report) : admissionText(report));
    setExitCode(exit);
    return exit;
  };
  const command = new AdmitCommand('admit', (error, failClosed, output) =>
    show({ known: false, admit: !failClosed, applicant: undefined, error }, output),
  )
    .description('decide whether a workload may start now')
    .optionsGroup('Workload:')
    .option('--name <name>', 'name below its source; in a systemd unit: %n')
    .option('--path <path>', 'path of its cgroup, as rules match it')
    .addOption(new Option('--qos <class>', 'QoS class').choices([...QOS.keys()]))
    .addOption(new Option('--pod <file>', "a v1.Pod as JSON instead; '-' reads standard input").conflicts(['name', 'path', 'qos']))
    .optionsGroup(SHARED_GROUPS.preemption)
    .option('--priority-class <name>', 'priority class, else by the rules or the pod')
    .option('--dry-run', 'only show which workloads would end')
    .option('--requests <memory=amount>', 'request of the workload, else by the rules')
    .option('--timeout <time>', 'how long to wait for their end (default 1m)')
    .optionsGroup('Options:')
    .option('--preempt', 'make room: end less important workloads')
    .option(FAIL_CLOSED, 'if conditions are unknown, refuse all but critical')
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    about: ['Asks the evictd that guards the node, by its file in the runtime directory. Changes nothing.'],
    examples: [
      'ExecCondition=+/usr/bin/evictd admit --name %n    in a systemd unit',
      'evictd admit --qos burstable',
      'kubectl get pod web-0 -o json | evictd admit --pod -',
    ],
    exit: { 0: 'admitted, or the conditions are unknown (with a warning)', 1: 'refused' },
  }).action(async (options: AdmitOptions) => {
    show(await admission(options, command.failsClosed), options.output);
  });
};

/** A command whose usage errors are answers. */
class AdmitCommand extends Command {
  readonly #onUsageError: (error: UsageError, failClosed: boolean, output: unknown) => number;
  #given: readonly string[] = [];

  constructor(name: string, onUsageError: (error: UsageError, failClosed: boolean, output: unknown) => number) {
    super(name);
    this.#onUsageError = onUsageError;
  }

  /** Read from the raw arguments: commander parses none after a wrong one. */
  get failsClosed(): boolean {
    return this.#given.some((word) => word.startsWith(FAIL_CLOSED_PREFIX));
  }

  override parseOptions(args: string[]): ParseOptionsResult {
    this.#given = [...args];
    return super.parseOptions(args);
  }

  override error(message: string, options: { code?: string } = {}): never {
    const error = new UsageError('EVICTD_USAGE', usageMessage(message), { hint: 'evictd admit --help' });
    const exit = this.#onUsageError(error, this.failsClosed, this.getOptionValue('output'));
    throw new CommanderError(exit, options.code ?? 'commander.error', message);
  }
}

async function admission(options: AdmitOptions, failsClosed: boolean): Promise<AdmissionReport> {
  let applicant: Applicant | undefined;
  let what: string | undefined;
  try {
    const { applicantByRules, presentConditionsOf } = await import('./open.js');
    const room = PREEMPT_OPTIONS.some((key) => options[key] !== undefined) ? await import('./preempt.js') : undefined;
    const isPreempting = room?.isPreempting(options) === true;
    const pod = options.pod === undefined ? undefined : readDocument(options.pod, POD_FILE, workloadOfPod);
    if (pod !== undefined) applicant = applicantOf(pod);
    const { config } = configFromOptions(options);
    applicant ??= applicantByRules(config, named(options));
    what = 'whether it is critical is';
    if (room) applicant = room.ofClass(applicant, options, config);
    what = undefined;
    const { conditions, taints = [], shutdown } = presentConditionsOf(config);
    if (shutdown !== undefined) return { known: true, admission: SHUTDOWN_REFUSAL, conditions, taints, applicant, shutdown };
    const types = conditions.map(({ type }) => type);
    const report = { known: true, admission: decide(types, applicant, taints), conditions, taints, applicant } as const;
    if (room === undefined || !isPreempting || !report.admission.admit) return report;
    what = 'whether its request fits is';
    const preemption = await room.makeRoom(options, config, { critical: applicant.critical, named: named(options), pod });
    return { ...report, admission: preemption.admission.admit ? report.admission : preemption.admission, preemption };
  } catch (error) {
    return { known: false, admit: applicant?.critical === true || !failsClosed, applicant, error, what };
  }
}

function consequence({ admit, applicant }: Extract<AdmissionReport, { known: false }>): string {
  if (!admit) return `refused: ${FAIL_CLOSED} is set`;
  return `admitted: ${applicant?.critical ? 'a critical workload may always start' : `with ${FAIL_CLOSED}, evictd admit would refuse the workload`}`;
}

function named({ name, path, qos, requests }: AdmitOptions): NamedWorkload {
  return {
    name: name === undefined ? undefined : nameBelowSource(name),
    path: path === undefined ? undefined : cgroupPath(path),
    qosClass: qos === undefined ? (requests === undefined ? undefined : 'Burstable') : QOS.get(qos),
  };
}

/** 'db' or 'db/worker'. With `--name $EMPTY --fail-closed`, commander takes the option for the name. */
function nameBelowSource(text: string): string {
  const isName = text.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (isName && !text.startsWith(FAIL_CLOSED_PREFIX)) return text;
  throw new UsageError('EVICTD_USAGE', `--name is not the name of a workload: ${JSON.stringify(text)}`, {
    hint: 'use the name below its source, e.g. batch-1.service; use --path for a path',
  });
}

function cgroupPath(text: string): string {
  if (configuredPlatform().os === 'windows' && (isWindowsPath(text) || text.startsWith('job:'))) return text;
  try {
    return cgroupText(text);
  } catch (cause) {
    if (!(cause instanceof TextError)) throw cause;
    const message = cause.message.replace(/^not /, 'is not ');
    throw new UsageError('EVICTD_USAGE', `--path ${message}`, { hint: cause.hint, cause });
  }
}
