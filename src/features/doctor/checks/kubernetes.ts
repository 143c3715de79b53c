import { broken, degraded, ok } from '../check.js';
import { defineCheck } from '../check-kind.js';

const FIX = 'grant it to the credential: docs/api-server.md#permissions';

/** Whether the API server answers, and whether the credential may do all that the configuration needs. */
export const apiServerCheck = defineCheck('kubernetes.api', ['apiServer'], ({ apiServer }, id) => {
  if (apiServer === undefined) return [];
  const { nodeName, server = 'the API server', pods, problem, refused } = apiServer;
  const isBroken = refused.some(({ access }) => access.endsWith(' pods')); // without them no pod is a candidate, or none stays gone
  if (problem !== undefined)
    return isBroken ? broken(id, problem, FIX, { pods }) : degraded(id, problem, 'kubectl get --raw /readyz', { pods });
  const details = { server, nodeName, pods, refused: refused.map(({ access }) => access) };
  if (refused.length === 0)
    return ok(id, `${server} answers, and evictd has all permissions; pods of ${nodeName}: ${String(pods)}`, details);
  const texts = refused.map(({ access, without }) => `${access} (${without})`);
  const summary = `${server}: the credential may not ${texts.join(', ')}`;
  return isBroken ? broken(id, summary, FIX, details) : degraded(id, summary, FIX, details);
});

/** Whether the credential may do harm that evictd does not need. It is optional: never worse than ok. */
export const excessCheck = defineCheck('kubernetes.excess', ['apiServer'], ({ apiServer }, id) => {
  const excessive = apiServer?.excessive;
  if (excessive === undefined) return [];
  const summary =
    excessive.length === 0
      ? 'the credential may neither delete nodes nor list secrets nor patch pods'
      : `optional: the credential may ${excessive.join(', ')}, which evictd does not need: remove it from its roles`;
  return ok(id, summary, { excessive });
});

/** Whether the disruption budgets that a kill violates are counted. It is optional: never worse than ok. */
export const budgetsCheck = defineCheck('kubernetes.budgets', ['apiServer'], ({ apiServer }, id) => {
  const countsBudgets = apiServer?.countsBudgets;
  if (countsBudgets === undefined) return [];
  const what = 'disruption budgets that node pressure violates';
  const summary = countsBudgets ? `${what} are counted` : `optional: the credential may not list ${what}, so they are not counted`;
  return ok(id, summary, { countsBudgets });
});

/** Whether `evictd explain` and dry runs can say where pods could run. It is optional: never worse than ok. */
export const couldRunCheck = defineCheck('kubernetes.could-run', ['apiServer'], ({ apiServer }, id) => {
  const unlisted = apiServer?.unlisted;
  if (unlisted === undefined) return [];
  const summary =
    unlisted.length === 0
      ? 'explain and dry runs say where pods could run now: the credential may list nodes and pods'
      : `optional: the credential may not list all ${unlisted.join(' and ')}, so explain and dry runs do not say where pods could run now; ` +
        'kubectl apply --kustomize packaging/kubernetes/could-run permits it';
  return ok(id, summary, { unlisted });
});

/** Whether `evictd controller` and kube-controller-manager do the same. To see it is optional. */
export const clusterControllersCheck = defineCheck('kubernetes.controllers', ['apiServer'], ({ apiServer }, id) => {
  const controllers = apiServer?.controllers;
  if (controllers === undefined) return [];
  if (controllers.kind === 'forbidden') {
    const unknown = 'so it is not known whether evictd controller and kube-controller-manager both act';
    return ok(id, `optional: the credential may not ${controllers.what}, ${unknown}`, { active: null });
  }
  const { active, twice, unseen } = controllers;
  const details = { active, twice: twice.map(({ controller }) => controller) };
  const [first] = twice;
  if (first === undefined && unseen !== undefined)
    return ok(id, `evictd controller runs ${active.join(', ')}; whether both act is not known: ${unseen}`, details);
  if (first === undefined)
    return ok(id, `evictd controller runs ${active.join(', ') || 'no part'}; kube-controller-manager runs none of them`, details);
  const summary = `evictd controller and kube-controller-manager both act: ${details.twice.join(', ')} (${first.why})`;
  return degraded(
    id,
    summary,
    `add ${twice.map(({ controller }) => `-${controller}`).join(',')} to --controllers of kube-controller-manager`,
    details,
  );
});
