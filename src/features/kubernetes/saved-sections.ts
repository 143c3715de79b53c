import * as z from 'zod/mini';
import { TAINT_EFFECTS } from '../../core/disruption/taint.js';
import {
  ofSavedForm,
  savedForm,
  type PendingDeletion,
  type PendingDeletions,
  type SavedDeletion,
} from '../../core/kubernetes/pending-deletion.js';
import type { SavedSection } from './reports/report-ports.js';
import type { ReportedNode } from './reports/reported-node.js';

// Entries of the sections of the saved state. They are not in the agent: its bundle would have a zod of its own.

const FIELDS = 10;

/** Words of an older evictd, which had one reason. */
const FORMER: Readonly<Record<string, PendingDeletion['next']>> = { mark: 'condition', settled: 'done' };

/** The section with the pending deletions, which are saved in their short form. */
export function deletionSection(section: SavedSection<PendingDeletions>): SavedSection<PendingDeletions> {
  return {
    before: section.before,
    keep: (pending) => {
      section.keep((pending as PendingDeletions | undefined)?.map(savedForm));
    },
  };
}

/** An older evictd has saved objects. */
function current(saved: unknown): unknown {
  if (Array.isArray(saved)) return saved.length === FIELDS ? ofSavedForm(saved as unknown as SavedDeletion) : undefined;
  const now = FORMER[String((saved as Partial<PendingDeletion> | null)?.next)];
  return now === undefined ? saved : { reason: 'TerminationByKubelet', ...(saved as object), next: now };
}

export function savedDeletion(): z.ZodMiniType<PendingDeletion> {
  const deletion = z.object({
    ...{ uid: z.string(), namespace: z.string(), name: z.string(), decision: z.int(), reason: z.string(), message: z.string() },
    ...{ graceSeconds: z.int(), next: z.enum(['condition', 'delete', 'done']), isSignalled: z.optional(z.literal(true)) },
    ...{ ended: z.optional(z.union([z.number(), z.literal('restarted')])), isOver: z.optional(z.literal(true)) },
  });
  return z.pipe(z.transform(current), deletion) as unknown as z.ZodMiniType<PendingDeletion>;
}

export function savedNode(): z.ZodMiniType<ReportedNode> {
  const taint = z.object({ key: z.string(), value: z.string(), effect: z.enum(TAINT_EFFECTS) });
  const node = { kubeconfig: z.optional(z.string()), nodeName: z.string(), taints: z.array(taint) };
  const known = { isDrainKnown: z._default(z.boolean(), false), hasCordoned: z._default(z.boolean(), false) };
  return z.object({ ...node, ...known }) as unknown as z.ZodMiniType<ReportedNode>;
}
