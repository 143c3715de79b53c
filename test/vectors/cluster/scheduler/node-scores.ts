// How good the feasible nodes are for a pod: the scores of the default profile (pkg/scheduler, v1.36.2).
import { member, textOf, items } from '../../../../src/kubernetes/document.js';
import { matchesTerm } from '../node-affinity.js';
import { toleratesTaint } from '../taint.js';
import { affinityScores } from './inter-pod-affinity.js';
import { preferredTermsAt, type SchedulerProfile } from './profile.js';
import { balanceScore, fitScore } from './resource-scores.js';
import type { ScheduledPod, SchedulerNode, Snapshot } from './snapshot.js';
import type { SpreadConstraint } from './spread-constraint.js';
import { spreadScores } from './topology-spread.js';

const MEBIBYTE = 1024 * 1024;
const IMAGE_THRESHOLDS = { least: 23 * MEBIBYTE, most: 1000 * MEBIBYTE };

/** By plugin, weighted; a plugin that does not score this pod is left out. */
export type NodeScores = ReadonlyMap<string, number>;

export interface ScoreInput {
  readonly pod: ScheduledPod;
  readonly snapshot: Snapshot;
  readonly profile: SchedulerProfile;
  readonly feasible: readonly SchedulerNode[];
  /** Soft ones. */
  readonly constraints: readonly SpreadConstraint[];
  /** Nodes without one of the topology labels get no score for the spread. */
  readonly requiresAll: boolean;
}

const PLUGINS: readonly {
  readonly name: string;
  readonly weight: number;
  readonly score: (input: ScoreInput) => readonly number[] | undefined;
}[] = [
  { name: 'TaintToleration', weight: 3, score: taintScores },
  { name: 'NodeAffinity', weight: 2, score: nodeAffinityScores },
  {
    name: 'NodeResourcesFit',
    weight: 1,
    score: ({ pod, profile, feasible }) => feasible.map((node) => fitScore(profile.scoringStrategy, pod, node)),
  },
  {
    name: 'PodTopologySpread',
    weight: 2,
    score: ({ pod, constraints, snapshot, feasible, requiresAll }) =>
      spreadScores(pod, constraints, { all: snapshot.nodes, feasible, requiresAll }),
  },
  {
    name: 'InterPodAffinity',
    weight: 2,
    score: ({ pod, snapshot, feasible, profile }) => affinityScores(pod, snapshot, feasible, profile),
  },
  {
    name: 'NodeResourcesBalancedAllocation',
    weight: 1,
    score: ({ pod, profile, feasible }) => {
      const scoreOf = balanceScore(profile.balancedResources, pod);
      return scoreOf === undefined ? undefined : feasible.map(scoreOf);
    },
  },
  { name: 'ImageLocality', weight: 1, score: imageScores },
];

/** In the order of the feasible nodes. */
export function nodeScores(input: ScoreInput): readonly NodeScores[] {
  const scored = PLUGINS.map(({ name, weight, score }) => ({ name, weight, scores: score(input) }));
  return input.feasible.map(
    (_node, index) =>
      new Map(scored.flatMap(({ name, weight, scores }) => (scores === undefined ? [] : [[name, (scores[index] ?? 0) * weight] as const]))),
  );
}

export function totalScore(scores: NodeScores): number {
  return [...scores.values()].reduce((sum, score) => sum + score, 0);
}

/** The fewer taints of PreferNoSchedule that are not tolerated, the better. */
function taintScores({ pod, feasible }: ScoreInput): readonly number[] {
  const tolerations = pod.tolerations.filter(({ effect }) => effect === '' || effect === 'PreferNoSchedule');
  const raw = feasible.map(
    ({ taints }) =>
      taints.filter(
        (taint) => taint.effect === 'PreferNoSchedule' && !tolerations.some((toleration) => toleratesTaint(toleration, taint, 'off')),
      ).length,
  );
  const most = Math.max(0, ...raw);
  return raw.map((count) => (most === 0 ? 100 : 100 - Math.trunc((100 * count) / most)));
}

function nodeAffinityScores({ pod, profile, feasible }: ScoreInput): readonly number[] | undefined {
  const own = preferredTermsAt(member(member(pod.spec, 'affinity'), 'nodeAffinity'));
  const terms = [...own, ...profile.addedPreferredTerms];
  if (terms.length === 0) return undefined;
  const raw = feasible.map((node) => terms.reduce((sum, { weight, term }) => (matchesTerm(term, node) ? sum + weight : sum), 0));
  const most = Math.max(0, ...raw);
  return raw.map((score) => (most === 0 ? 0 : Math.trunc((100 * score) / most)));
}

/** The more of its images are there, the better; an image on few nodes counts less, so that pods do not crowd there. */
function imageScores({ pod, snapshot: { nodes }, feasible }: ScoreInput): readonly number[] {
  const images = ['initContainers', 'containers'].flatMap((list) =>
    items(member(pod.spec, list)).map((container) => normalizedName(textOf(member(container, 'image')))),
  );
  const most = IMAGE_THRESHOLDS.most * images.length;
  return feasible.map((node) => {
    const sum = images.reduce((total, image) => {
      const bytes = node.images.get(image);
      if (bytes === undefined) return total;
      return total + Math.trunc(bytes * (nodes.filter(({ images: of }) => of.has(image)).length / nodes.length));
    }, 0);
    const within = Math.min(Math.max(sum, IMAGE_THRESHOLDS.least), most);
    return Math.trunc((100 * (within - IMAGE_THRESHOLDS.least)) / (most - IMAGE_THRESHOLDS.least));
  });
}

function normalizedName(image: string): string {
  return image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image;
}
