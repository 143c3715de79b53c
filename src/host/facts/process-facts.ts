import type { Unseen } from './unread-fact.js';

/** The process whose rights, limits and protection count: the evictd that guards the node, otherwise this process. */
export interface SubjectFacts {
  readonly kind: 'running' | 'this process';
  readonly pid: number;
  readonly uid: number | Unseen;
  /** CapEff. */
  readonly effective: bigint | Unseen;
  /** Soft limits; Infinity: none. */
  readonly limits: { readonly openFiles: number; readonly lockedBytes: number } | Unseen;
  readonly oomScoreAdj: number | Unseen;
  /** Its memory cgroup and the ancestors without the root, nearest first; undefined: cgroup v1, or not visible. */
  readonly cgroups: readonly CgroupProtection[] | undefined;
}

export interface CgroupProtection {
  readonly path: string;
  /** memory.min; undefined: not readable. */
  readonly minBytes: bigint | undefined;
  readonly usageBytes: bigint | undefined;
}

export interface RuntimeFacts {
  readonly node: string;
  /** 'x64', 'arm64'. */
  readonly arch: string;
  /** NODE_MODULE_VERSION and the version of Node-API. */
  readonly abi: string;
  readonly napi: string;
  readonly addon: { readonly file: string } | { readonly failure: string; readonly hint: string | undefined };
}

/** The result of the last reload: a line for each error; undefined: accepted, or no reload. */
export type ReloadFacts = { readonly refused: readonly string[] | undefined } | Unseen;

/** The evictd that guards this node. */
export type InstanceFacts =
  | { readonly kind: 'running'; readonly pid: number; readonly version: string | undefined }
  | {
      readonly kind: 'none';
      /** The process of a dry run. */
      readonly dryRun?: number;
    }
  | { readonly kind: 'unseen'; readonly unseen: string };

/** The properties of evictd.service. */
export type ServiceFacts =
  | { readonly kind: 'no systemd' }
  | { readonly kind: 'unseen'; readonly unseen: string }
  | { readonly kind: 'unit'; readonly properties: Readonly<Record<string, string>> };
