import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { normalCgroupPath } from '../core/workload/cgroup.js';
import * as deferred from '../features/kubernetes/open.js';
import { selectHost } from '../host/select.js';
import { native } from '../native/index.js';
import { Timeouts } from './timeouts.js';

export type ApiServer = deferred.Kubernetes;
type Parts = ConstructorParameters<typeof deferred.Kubernetes>[0];

/** The timeout of an answer, as for container runtimes. */
const ANSWER_MS = 5_000;

/** The API server of the cluster, asked from now on. undefined: not configured. */
export function openApiServer(
  { kubernetes: config, runtimeDirectory }: Pick<Config, 'kubernetes' | 'runtimeDirectory'>,
  instance: string,
  parts: Pick<Parts, 'env' | 'dryRun' | 'log' | 'acting'>,
): ApiServer | undefined {
  if (config === undefined) return undefined;
  const podsFile = deferred.openPodsFile(join(runtimeDirectory, `${instance}.pods.json`), selectHost().readBootId());
  return new deferred.Kubernetes({
    ...{ config, podsFile, bootNs: (): bigint => native.bootTimeNs() },
    ...parts,
  });
}

/**
 * The same for a single reading, after the API server has answered or timed out. Without an answer it has the pods that evictd has
 * saved. It writes nothing. Never rejects.
 */
export async function askApiServer(config: Config): Promise<ApiServer | undefined> {
  const { cgroup } = config.node;
  const instance = selectHost().instanceName({ cgroup: cgroup === undefined ? undefined : normalCgroupPath(cgroup) });
  const server = openApiServer(config, instance, { env: process.env, dryRun: true, log: undefined });
  if (server) await new Timeouts().within(ANSWER_MS, () => server.reported());
  return server;
}
