import type { Unseen } from './unseen.js';

/** Whose rights, limits and protection count: the evictd that guards the node, else this process, started as it would be. */
export interface SubjectFacts {
  readonly kind: 'running' | 'this process';
  readonly pid: number;
  readonly uid: number | Unseen;
  /** CapEff. */
  readonly effective: bigint | Unseen;
  /** Soft limits; Infinity: none. */
  readonly limits: { readonly openFiles: number; readonly lockedBytes: number } | Unseen;
  readonly oomScoreAdj: number | Unseen;
  /** Its memory cgroup and all above it, the root left out, nearest first; undefined: cgroup v1, or it cannot be seen. */
  readonly cgroups: readonly CgroupProtection[] | undefined;
}

/** Of one cgroup, bytes. */
export interface CgroupProtection {
  readonly path: string;
  /** memory.min; undefined: it cannot be read. */
  readonly minBytes: bigint | undefined;
  readonly usageBytes: bigint | undefined;
}

/** What this program runs on. */
export interface RuntimeFacts {
  readonly node: string;
  /** 'x64', 'arm64'. */
  readonly arch: string;
  /** NODE_MODULE_VERSION and the version of Node-API. */
  readonly abi: string;
  readonly napi: string;
  readonly addon: { readonly file: string } | { readonly failure: string; readonly hint: string | undefined };
}

/** What an evictd has said to its last reload: a line for each error where it has refused the configuration; undefined: it has taken it over, or there was none. */
export type ReloadFacts = { readonly refused: readonly string[] | undefined } | Unseen;

/** The evictd that guards the same node. */
export type InstanceFacts =
  | { readonly kind: 'running'; readonly pid: number; readonly version: string | undefined }
  | {
      readonly kind: 'none';
      /** The process that decides for this node and evicts nobody. */
      readonly dryRun?: number;
    }
  | { readonly kind: 'unseen'; readonly unseen: string };

/** What systemd says of evictd.service. */
export type ServiceFacts =
  | { readonly kind: 'no systemd' }
  | { readonly kind: 'unseen'; readonly unseen: string }
  | { readonly kind: 'unit'; readonly properties: Readonly<Record<string, string>> };
