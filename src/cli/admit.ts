import { Command, CommanderError, Option, type ParseOptionsResult } from 'commander';
import { configuredPlatform } from '../compose/configured-platform.js';
import type { NamedWorkload } from '../compose/admission.js';
import { cgroupText, TextError } from '../config/text.js';
import { admit, applicantOf, SHUTDOWN_REFUSAL, type Applicant } from '../core/admission.js';
import type { QosClass } from '../core/workload.js';
import { isWindowsPath } from '../core/windows-path.js';
import { UsageError } from '../errors.js';
import { workloadOfPod } from '../kubernetes/pod.js';
import { readDocument } from './document-file.js';
import { formatError } from './errors.js';
import type { Io } from './io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from './options.js';
import { admissionJson, admissionText, isAdmitted, type AdmissionReport } from './output/admission.js';

export interface AdmitDeps {
  readonly io: Io;
  readonly setExitCode: (code: number) => void;
}

const QOS: ReadonlyMap<string, QosClass> = new Map([
  ['guaranteed', 'Guaranteed'],
  ['burstable', 'Burstable'],
  ['best-effort', 'BestEffort'],
]);

const EXIT_ADMITTED = 0;
const EXIT_REFUSED = 1;
const FAIL_CLOSED = '--fail-closed';
/** Whoever mistypes it means it. */
const MEANS_FAIL_CLOSED = '--fail';

/** More than the API server stores of one object. */
const POD_FILE = { maxBytes: 4 * 1024 * 1024, hint: 'kubectl get pod NAME -o json writes what is needed' };

interface AdmitOptions extends ConfigOptions {
  readonly name?: string;
  readonly path?: string;
  readonly qos?: string;
  readonly pod?: string;
  readonly output: string;
}

/**
 * `evictd admit`. Every failure is an answer, a wrong command line, too: a unit that asks whether it may start must not stay down because the question
 * went wrong.
 */
export function admitCommand({ io, setExitCode }: AdmitDeps): Command {
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
    .description('whether a workload may start under the present conditions of the node')
    .optionsGroup('Workload:')
    .option('--name <name>', 'its name below its source, as the rules match it (in a unit: %n)')
    .option('--path <path>', 'the path of its cgroup, as the rules match it')
    .addOption(new Option('--qos <class>', 'its class, instead of what the rules say').choices([...QOS.keys()]))
    .addOption(new Option('--pod <file>', "a pod instead: v1.Pod as JSON, '-' for standard input").conflicts(['name', 'path', 'qos']))
    .optionsGroup('Options:')
    .option(FAIL_CLOSED, 'where nothing is known, or something fails: refuse all but critical ones')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'));
  return addConfigOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  ExecCondition=+/usr/bin/evictd admit --name %n    in a unit: skip the start while the node is short of something
  evictd admit --qos burstable
  kubectl get pod web-0 -o json | evictd admit --pod -

It asks the evictd that guards the node (by its file in the runtime directory) and touches nothing.
Exit: 0 admitted, or nothing is known (a warning on standard error); 1 refused.`,
    )
    .action(async (options: AdmitOptions) => {
      show(await admission(options, command.failsClosed), options.output);
    });
}

/** A command whose usage errors are answers. */
class AdmitCommand extends Command {
  readonly #onUsageError: (error: UsageError, failClosed: boolean, output: unknown) => number;
  #given: readonly string[] = [];

  constructor(name: string, onUsageError: (error: UsageError, failClosed: boolean, output: unknown) => number) {
    super(name);
    this.#onUsageError = onUsageError;
  }

  /** By the words as they were given: behind a wrong one nothing is parsed. */
  get failsClosed(): boolean {
    return this.#given.some((word) => word.startsWith(MEANS_FAIL_CLOSED));
  }

  override parseOptions(args: string[]): ParseOptionsResult {
    this.#given = [...args];
    return super.parseOptions(args);
  }

  override error(message: string, options: { code?: string } = {}): never {
    const said = message
      .replace(/^error: /, '')
      .trim()
      .replace(/\s*\n\s*/g, ' ');
    const error = new UsageError('EVICTD_USAGE', said, { hint: 'evictd admit --help' });
    const exit = this.#onUsageError(error, this.failsClosed, this.getOptionValue('output'));
    throw new CommanderError(exit, options.code ?? 'commander.error', message);
  }
}

async function admission(options: AdmitOptions, failsClosed: boolean): Promise<AdmissionReport> {
  let applicant: Applicant | undefined;
  try {
    const { applicantByRules, presentConditionsOf } = await import('../compose/admission.js');
    if (options.pod !== undefined) applicant = applicantOf(readDocument(options.pod, POD_FILE, workloadOfPod));
    const { config } = configFromOptions(options);
    applicant ??= applicantByRules(config, named(options));
    const { conditions, shutdown } = presentConditionsOf(config);
    if (shutdown !== undefined) return { known: true, admission: SHUTDOWN_REFUSAL, conditions, applicant, shutdown };
    const types = conditions.map(({ type }) => type);
    return { known: true, admission: admit(types, applicant), conditions, applicant };
  } catch (error) {
    return { known: false, admit: applicant?.critical === true || !failsClosed, applicant, error };
  }
}

function consequence({ admit, applicant }: Extract<AdmissionReport, { known: false }>): string {
  if (!admit) return `refused, because of ${FAIL_CLOSED}`;
  return `admitted all the same; ${applicant?.critical ? 'a critical workload may start under every condition' : `${FAIL_CLOSED} would refuse`}`;
}

function named({ name, path, qos }: AdmitOptions): NamedWorkload {
  return {
    name: name === undefined ? undefined : nameBelowSource(name),
    path: path === undefined ? undefined : cgroupPath(path),
    qosClass: qos === undefined ? undefined : QOS.get(qos),
  };
}

/** 'db', 'db/worker': no rule could match anything else. `--name $EMPTY --fail-closed` takes the option for the name. */
function nameBelowSource(text: string): string {
  const isName = text.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (isName && !text.startsWith(MEANS_FAIL_CLOSED)) return text;
  throw new UsageError('EVICTD_USAGE', `--name is not the name of a workload: ${JSON.stringify(text)}`, {
    hint: 'write it as it stands below its source: batch-1.service; a path goes with --path',
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
