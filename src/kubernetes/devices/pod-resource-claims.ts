import type { PodClaim } from '../../core/devices/resource-claim.js';
import { isAbsent, items, member, textOf, wrong, type Field } from '../document.js';

/** spec.resourceClaims of a pod, with the names of the claims that were made from templates. */
export function podClaimsAt(spec: Field, status: Field): readonly PodClaim[] {
  const claims = items(member(spec, 'resourceClaims'));
  if (claims.length === 0) return [];
  const statuses = items(member(status, 'resourceClaimStatuses'));
  const generated = new Map(statuses.map((each) => [textOf(member(each, 'name')), textOf(member(each, 'resourceClaimName'))]));
  return claims.map((claim): PodClaim => {
    const name = textOf(member(claim, 'name'));
    const [own, template] = [member(claim, 'resourceClaimName'), member(claim, 'resourceClaimTemplateName')];
    if (!isAbsent(own)) return { name, source: { kind: 'claim', name: textOf(own) } };
    if (isAbsent(template)) throw wrong(claim, 'resourceClaimName or resourceClaimTemplateName');
    return { name, source: { kind: 'template', name: textOf(template), generated: generated.get(name) } };
  });
}
