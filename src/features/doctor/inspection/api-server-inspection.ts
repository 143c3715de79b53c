import type { KubernetesConfig } from '../../../core/kubernetes/kubernetes-config.js';
import {
  accessText,
  BUDGETS_ACCESS,
  COULD_RUN_ACCESS,
  EXCESSIVE_ACCESS,
  neededAccess,
  type NeededAccess,
} from '../../../core/kubernetes/needed-access.js';
import type { ApiServer } from '../../../node/api-server.js';
import type { ApiServerFacts } from '../machine-facts.js';

/** Asks the server for each permission that the configuration needs. Never rejects. */
export async function examineApiServer(
  config: KubernetesConfig | undefined,
  apiServer: ApiServer | undefined,
): Promise<ApiServerFacts | undefined> {
  if (config === undefined || apiServer === undefined) return undefined;
  const { nodeName, server, pods, problem } = apiServer.status();
  const controllers = await apiServer.controllers().catch(() => undefined); // what is wrong is said below
  const facts = {
    nodeName,
    server,
    pods,
    problem,
    refused: [],
    excessive: undefined,
    unlisted: undefined,
    countsBudgets: undefined,
    controllers,
  };
  const refusedOf = async ({ attributes, orElse, without }: NeededAccess) =>
    (await apiServer.mayDo(attributes)) || (orElse && (await apiServer.mayDo(orElse))) ? [] : [{ access: accessText(attributes), without }];
  try {
    const [pod] = apiServer.pods();
    const refused = (await Promise.all(neededAccess(config, nodeName, pod).map(refusedOf))).flat();
    const countsBudgets = await apiServer.mayDo(BUDGETS_ACCESS);
    const lists = COULD_RUN_ACCESS.map(async (each) => ((await apiServer.mayDo(each)) ? [] : [each.resource]));
    const unlisted = (await Promise.all(lists)).flat();
    const more = EXCESSIVE_ACCESS.map(async (each) => ((await apiServer.mayDo(each)) ? [accessText(each)] : []));
    return { ...facts, refused, countsBudgets, unlisted, excessive: (await Promise.all(more)).flat() };
  } catch (error) {
    return { ...facts, problem: problem ?? `${server ?? 'the API server'} does not say what the credential may do: ${String(error)}` };
  }
}
