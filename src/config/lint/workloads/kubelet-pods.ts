import { isInPodsCgroup } from '../../../core/workload/cri-cgroup.js';
import { slicePath } from '../../../core/systemd/unit.js';
import { cgroupSelection, sourceText } from '../../../workloads/kinds/source-spec.js';
import type { Finding, LintRule, LintSubject } from '../lint-rule.js';

/** A source of cgroups or units in a kubelet's pods, where no source knows pods: none of them is a workload. */
function lintKubeletPods({ workloads }: LintSubject): Finding[] {
  const selections = workloads.map((source) => cgroupSelection(source) ?? {});
  if (selections.some(({ endpoints = [], apiServer }) => endpoints.length > 0 || apiServer === true)) return [];
  return workloads.flatMap((source, index): Finding[] => {
    const { parents = [], slices = [] } = selections[index] ?? {};
    if (![...parents, ...slices.map(slicePath)].some(isInPodsCgroup)) return [];
    return [
      {
        ...{ level: 'warn', code: 'EVICTD_LINT_KUBELET_PODS', key: `workloads[${String(index)}]` },
        message: `${sourceText(source)}: a kubelet manages these pods, and would start them again: none is a workload of this source`,
        hint: 'add kubernetes: {kubeconfig: …}, so that evictd evicts pods of a kubelet; for pods without a kubelet, a cri source',
      },
    ];
  });
}

export const kubeletPodsRule: LintRule = { codes: ['EVICTD_LINT_KUBELET_PODS'], find: lintKubeletPods };
