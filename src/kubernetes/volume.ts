import type { LocalVolume } from '../core/workload.js';
import { isAbsent, items, member, quantityOf, textOf, type Field } from './document.js';

/** The volumes on storage of the node, in the order of the pod; others (a claim, a secret, a projection) have limits and owners elsewhere. */
export function localVolumesOf(spec: Field): LocalVolume[] {
  return items(member(spec, 'volumes')).flatMap((volume): LocalVolume[] => {
    const name = textOf(member(volume, 'name'));
    const emptyDir = member(volume, 'emptyDir');
    if (!isAbsent(emptyDir)) {
      const sizeLimit = member(emptyDir, 'sizeLimit');
      const medium = textOf(member(emptyDir, 'medium'));
      return [{ name, kind: 'emptyDir', medium, sizeLimit: isAbsent(sizeLimit) ? undefined : quantityOf(sizeLimit) }];
    }
    const kind = (['hostPath', 'configMap', 'gitRepo'] as const).find((source) => !isAbsent(member(volume, source)));
    return kind === undefined ? [] : [{ name, kind, medium: '', sizeLimit: undefined }];
  });
}
