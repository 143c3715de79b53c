// How good the feasible nodes are for a pod: the scores of the plugins (pkg/scheduler, v1.36.2).
import { toleratesTaint } from '../../disruption/toleration.js';
import { dynamicResourcesScores } from '../filters/dynamic-resources.js';
import type { PlacementInput } from '../filters/pod-filter.js';
import { matchesTerm } from '../node-affinity.js';
import type { NodeState } from '../cluster/node-state.js';
import { affinityScores } from './affinity-scores.js';
import { balanceScores, fitScores } from './resource-scores.js';
import { spreadScores } from './spread-scores.js';

const MEBIBYTE = 1024 * 1024;
const IMAGE_THRESHOLDS = { least: 23 * MEBIBYTE, most: 1000 * MEBIBYTE };

/** Weighted scores by plugin. A plugin that does not score this pod is left out. */
export type NodeScores = ReadonlyMap<string, number>;

/** Scores 0 to 100, in the order of the feasible nodes. undefined: it does not score this pod. */
type ScorePlugin = (input: PlacementInput, feasible: readonly NodeState[]) => readonly number[] | undefined;

const PLUGINS: Readonly<Partial<Record<string, ScorePlugin>>> = {
  TaintToleration: taintScores,
  NodeAffinity: nodeAffinityScores,
  NodeResourcesFit: fitScores,
  PodTopologySpread: spreadScores,
  InterPodAffinity: affinityScores,
  DynamicResources: dynamicResourcesScores,
  NodeResourcesBalancedAllocation: balanceScores,
  ImageLocality: imageScores,
};

/** Scores in the order of the feasible nodes. */
export function nodeScores(input: PlacementInput, feasible: readonly NodeState[]): readonly NodeScores[] {
  const scored = input.profile.plugins.scores.flatMap(({ name, weight }) => {
    const scores = PLUGINS[name]?.(input, feasible);
    return scores === undefined ? [] : [{ name, weight, scores }];
  });
  return feasible.map((_state, index) => new Map(scored.map(({ name, weight, scores }) => [name, (scores[index] ?? 0) * weight])));
}

export function totalScore(scores: NodeScores): number {
  let total = 0;
  for (const score of scores.values()) total += score;
  return total;
}

/** The fewer taints of PreferNoSchedule that are not tolerated, the better. */
function taintScores({ pod }: PlacementInput, feasible: readonly NodeState[]): readonly number[] {
  const tolerations = pod.tolerations.filter(({ effect }) => effect === '' || effect === 'PreferNoSchedule');
  const raw = feasible.map(
    ({ node: { taints } }) =>
      taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !tolerations.some((toleration) => toleratesTaint(toleration, taint)))
        .length,
  );
  const most = Math.max(0, ...raw);
  return raw.map((count) => (most === 0 ? 100 : 100 - Math.trunc((100 * count) / most)));
}

function nodeAffinityScores({ pod, profile }: PlacementInput, feasible: readonly NodeState[]): readonly number[] | undefined {
  const terms = [...pod.preferredNodeTerms, ...profile.addedPreferredTerms];
  if (terms.length === 0) return undefined;
  const raw = feasible.map(({ node }) => terms.reduce((sum, { weight, term }) => (matchesTerm(term, node) ? sum + weight : sum), 0));
  const most = Math.max(0, ...raw);
  return raw.map((score) => (most === 0 ? 0 : Math.trunc((100 * score) / most)));
}

/** The more of its images are there, the better; an image on few nodes counts less, so that pods do not crowd there. */
function imageScores({ pod: { images }, cluster }: PlacementInput, feasible: readonly NodeState[]): readonly number[] {
  const most = IMAGE_THRESHOLDS.most * images.length;
  return feasible.map(({ node }) => {
    let sum = 0;
    for (const image of images) {
      const known = node.images.has(image) ? cluster.image(image) : undefined;
      if (known !== undefined) sum += Math.trunc(known.bytes * (known.nodes / cluster.nodes.length));
    }
    const within = Math.min(Math.max(sum, IMAGE_THRESHOLDS.least), most);
    return Math.trunc((100 * (within - IMAGE_THRESHOLDS.least)) / (most - IMAGE_THRESHOLDS.least));
  });
}
