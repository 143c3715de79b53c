import type { Admission, Applicant } from './admission.js';
import type { PreemptionReport } from './preempt.js';
import type { PublishedCondition } from './published-conditions.js';
import { taintText, type Taint } from '../../core/disruption/taint.js';
import { formatBytes } from '../../core/quantity/quantity-format.js';
import { EvictdError } from '../../errors.js';
import { formatPosition, problemsOf } from '../../cli/output/error-text.js';
import { jsonDocument } from '../../core/name/json-text.js';

/** The answer of `evictd admit`; not `known` after an error. */
export type AdmissionReport =
  | {
      readonly known: true;
      readonly admission: Admission;
      readonly conditions: readonly PublishedCondition[];
      readonly taints: readonly Taint[];
      readonly applicant: Applicant;
      /** The machine shuts down since this time (RFC 3339). */
      readonly shutdown?: { readonly since: string };
      /** Left out: not asked for, or refused before. */
      readonly preemption?: PreemptionReport;
    }
  | {
      readonly known: false;
      readonly admit: boolean;
      /** undefined: unknown. */
      readonly applicant: Applicant | undefined;
      readonly error: unknown;
      /** 'whether its request fits is'. undefined: the node conditions are unknown. */
      readonly what?: string | undefined;
    };

type Known = Extract<AdmissionReport, { known: true }>;
type Unknown = Extract<AdmissionReport, { known: false }>;

const DEFECT = 'EVICTD_INTERNAL';

export function isAdmitted(report: AdmissionReport): boolean {
  return report.known ? report.admission.admit : report.admit;
}

/** One line for the unit's log; in a dry run of a preemption a line for each pod beside. */
export function admissionText(report: AdmissionReport): string {
  if (!report.known) return unknownText(report);
  const { preemption } = report;
  const text = knownText(report);
  if (preemption === undefined) return text;
  return [`${text.trimEnd()}${preemptionText(preemption)}`, ...preemption.couldRunNow].map((line) => `${line}\n`).join('');
}

function knownText(report: Known): string {
  const { admission, conditions, applicant, shutdown } = report;
  const kind = applicant.critical ? 'a critical workload' : `a ${applicant.qosClass} workload`;
  if (!admission.admit) {
    const why = shutdown ? [`shutting down since ${shutdown.since}`] : conditions.map(({ type, since }) => `${type} since ${since}`);
    return `refused: ${admission.reason}: ${admission.message.trimEnd()} (${[kind, ...(why.length > 0 ? [why.join(', ')] : [])].join('; ')})\n`;
  }
  if (admission.avoids)
    return `admitted: although the node has ${admission.avoids.map(taintText).join(', ')}, which it does not tolerate\n`;
  if (conditions.length === 0) return 'admitted: the node has no condition\n';
  const types = conditions.map(({ type }) => type).join(', ');
  const although = !applicant.critical && applicant.qosClass === 'BestEffort' ? `${kind} that tolerates it` : kind;
  return `admitted: ${although}, although the node has ${types}\n`;
}

function unknownText({ admit, applicant, error, what = 'the node conditions are' }: Unknown): string {
  const code = error instanceof EvictdError ? error.code : DEFECT;
  const kind = applicant?.critical ? 'a critical workload; ' : '';
  return `${admit ? 'admitted' : 'refused'}: ${kind}${what} unknown (${code})\n`;
}

/** Described in docs/admission.md. */
export function admissionJson(report: AdmissionReport): string {
  return jsonDocument(report.known ? knownJson(report) : unknownJson(report));
}

function knownJson({ admission, conditions, taints, applicant, shutdown, preemption }: Known): unknown {
  return {
    admit: admission.admit,
    known: true,
    ...(admission.admit ? admission.avoids && { avoids: admission.avoids } : { reason: admission.reason, message: admission.message }),
    conditions,
    ...(taints.length > 0 && { taints }),
    shutdown,
    ...(preemption && { preemption: preemptionJson(preemption) }),
    workload: workloadJson(applicant),
    problems: [],
  };
}

function unknownJson({ admit, applicant, error }: Unknown): unknown {
  const problems = problemsOf(error).map((problem) => ({
    ...problem,
    ...(problem.position && { position: formatPosition(problem.position) }),
  }));
  return { admit, known: false, conditions: [], ...(applicant ? { workload: workloadJson(applicant) } : {}), problems };
}

/** '; batch-1, batch-2 ended for its request of 300Mi'. */
function preemptionText({ admission, dryRun, requested, used, capacity, workloads }: PreemptionReport): string {
  if (!admission.admit) return '';
  const amount = (bytes: number): string => formatBytes(BigInt(bytes));
  if (workloads.length === 0)
    return `; its request of ${amount(requested)} fits: ${amount(capacity - used)} of ${amount(capacity)} are not requested`;
  const named = workloads.map(({ name, priority, requests, violates = [] }) => {
    const facts = [
      `priority ${String(priority)}`,
      amount(requests),
      ...violates.map((budget) => `violates the disruption budget ${budget}`),
    ];
    return `${name} (${facts.join(', ')})`;
  });
  return `; ${named.join(', ')} ${dryRun ? 'would end' : 'ended'} for its request of ${amount(requested)}`;
}

function preemptionJson({ dryRun, requested, used, capacity, workloads, couldRunNow }: PreemptionReport): unknown {
  return { dryRun, requested, used, capacity, workloads, ...(couldRunNow.length > 0 && { couldRunNow }) };
}

function workloadJson({ critical, qosClass }: Applicant): unknown {
  return { critical, qosClass };
}
