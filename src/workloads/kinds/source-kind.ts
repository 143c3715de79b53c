import type { ZodMiniType } from 'zod/mini';
import type { OperatingSystem } from '../../core/signal/operating-system.js';
import type { CgroupSelection } from '../../core/workload/workload-source.js';
import type { WorkloadSource } from '../../monitor/ports/ports.js';

/** A name in the value of a source, and its path there. */
interface NamedPart {
  readonly name: string;
  readonly path: readonly (string | number)[];
}

export interface WindowsSelection {
  /** The names of job objects, each one workload. */
  readonly jobs?: readonly string[];
  /** Patterns of service names; each running service is a workload. */
  readonly services?: readonly string[];
  /** Patterns of program paths; each process of such a program is a workload with its descendants. */
  readonly programs?: readonly string[];
}

/**
 * How the workloads of a source are found. Sources that select cgroups are read in one pass, and so are those of
 * Windows.
 */
type Found<Spec> =
  | { readonly in: 'cgroups'; select(spec: Spec): CgroupSelection }
  | { readonly in: 'windows'; select(spec: Spec): WindowsSelection }
  | { readonly in: 'elsewhere'; open(spec: Spec): WorkloadSource };

/**
 * A kind of workload source. An entry of `workloads` has one key, `kind`; its value is the specification. A recording
 * keeps the entry as it is.
 */
export interface SourceKind<Kind extends string = string, Spec = unknown> {
  readonly kind: Kind;
  readonly os: OperatingSystem;
  /** undefined: it is not written, but implied by another key. */
  readonly schema: ZodMiniType<Spec> | undefined;
  /** What it is for, by the key in its value; '': the value itself. For the JSON Schema and for evictd.yaml(5). */
  readonly descriptions: Readonly<Record<string, string>>;
  /** A phrase for hints: 'units (systemd: { slices: [batch.slice] })'. */
  readonly example: string;
  /** Hints for keys that are missing, by key. */
  readonly missing?: Readonly<Record<string, string>>;
  /** What is wrong with a value that names nothing; undefined: it names something. */
  emptiness?(spec: Spec): string | undefined;
  /** The map to write where `text`, or something else (undefined), stands instead. */
  mapHint?(text: string | undefined): string;
  /** The entry that is probably meant by a text without a kind; undefined: not this kind. */
  entryHint?(text: string): string | undefined;
  /** In messages: 'systemd batch.slice, web.service'. */
  text(spec: Spec): string;
  /** For the detection of duplicates. */
  names(spec: Spec): readonly NamedPart[];
  /** Names that cover the whole machine, and what they make workloads. */
  readonly wholeMachine?: Readonly<Record<string, { readonly what: string; readonly hint: string }>>;
  readonly found: Found<Spec>;
}
