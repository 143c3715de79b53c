import type { Admission, Applicant } from '../../core/admission.js';
import type { PublishedCondition } from '../../monitor/published-conditions.js';
import { EvictdError, ConfigError } from '../../errors.js';
import { formatPosition } from '../errors.js';

/** What `evictd admit` found; unknown: an error came in between, and the answer is the one for want of a better. */
export type AdmissionReport =
  | {
      readonly known: true;
      readonly admission: Admission;
      readonly conditions: readonly PublishedCondition[];
      readonly applicant: Applicant;
      /** The machine goes down, `since`: RFC 3339. Left out: it does not. */
      readonly shutdown?: { readonly since: string };
    }
  | {
      readonly known: false;
      readonly admit: boolean;
      /** undefined: not known either. */
      readonly applicant: Applicant | undefined;
      readonly error: unknown;
    };

type Unknown = Extract<AdmissionReport, { known: false }>;

const DEFECT = 'EVICTD_INTERNAL';

export function isAdmitted(report: AdmissionReport): boolean {
  return report.known ? report.admission.admit : report.admit;
}

/** One line for the log of the unit. */
export function admissionText(report: AdmissionReport): string {
  if (!report.known) return unknownText(report);
  const { admission, conditions, applicant, shutdown } = report;
  const who = applicant.critical ? 'a critical workload' : `a ${applicant.qosClass} workload`;
  if (!admission.admit) {
    const why = shutdown ? [`shutting down since ${shutdown.since}`] : conditions.map(({ type, since }) => `${type} since ${since}`);
    return `refused: ${admission.reason}: ${admission.message.trimEnd()} (${who}; ${why.join(', ')})\n`;
  }
  if (conditions.length === 0) return 'admitted: the node has no condition\n';
  const types = conditions.map(({ type }) => type).join(', ');
  const although = !applicant.critical && applicant.qosClass === 'BestEffort' ? `${who} that tolerates it` : who;
  return `admitted: ${although}, although the node has ${types}\n`;
}

function unknownText({ admit, applicant, error }: Unknown): string {
  const code = error instanceof EvictdError ? error.code : DEFECT;
  const who = applicant?.critical ? 'a critical workload; ' : '';
  return `${admit ? 'admitted' : 'refused'}: ${who}the conditions of the node are not known (${code})\n`;
}

/** As docs/admission.md describes it. */
export function admissionJson(report: AdmissionReport): string {
  return `${JSON.stringify(report.known ? knownJson(report) : unknownJson(report), undefined, 2)}\n`;
}

function knownJson({ admission, conditions, applicant, shutdown }: Extract<AdmissionReport, { known: true }>): unknown {
  return {
    admit: admission.admit,
    known: true,
    ...(admission.admit ? {} : { reason: admission.reason, message: admission.message }),
    conditions,
    ...(shutdown === undefined ? {} : { shutdown }),
    workload: workloadJson(applicant),
    problems: [],
  };
}

function unknownJson({ admit, applicant, error }: Unknown): unknown {
  return { admit, known: false, conditions: [], ...(applicant ? { workload: workloadJson(applicant) } : {}), problems: problemsOf(error) };
}

function workloadJson({ critical, qosClass }: Applicant): unknown {
  return { critical, qosClass };
}

function problemsOf(error: unknown): readonly unknown[] {
  if (error instanceof ConfigError) return error.issues.map((issue) => ({ ...issue, position: formatPosition(issue.position) }));
  if (error instanceof EvictdError)
    return [{ code: error.code, message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) }];
  return [{ code: DEFECT, message: error instanceof Error ? error.message : String(error) }];
}
