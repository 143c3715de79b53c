// Scores by free resources (plugins/noderesources, v1.36.2): 0 to 100.
import type { PlacementInput } from '../filters/pod-filter.js';
import type { Amounts } from '../node-fit.js';
import type { NodeState } from '../cluster/node-state.js';
import type { ScoringStrategy, UtilizationPoint, WeightedResource } from '../scheduler-profile.js';

interface ResourceUse extends WeightedResource {
  /** The requested amount, with the pod. */
  readonly requested: bigint;
  readonly without: bigint;
  readonly allocatable: bigint;
}

/** cpu and memory that is not asked for counts with 100m and 200Mi a container. */
export function fitScores({ pod, profile: { scoringStrategy } }: PlacementInput, feasible: readonly NodeState[]): readonly number[] {
  return feasible.map((state) =>
    fitScore(scoringStrategy, usesOf(scoringStrategy.resources, pod.scoredRequests, state, state.nonZeroUsed)),
  );
}

function fitScore(strategy: ScoringStrategy, uses: readonly ResourceUse[]): number {
  switch (strategy.type) {
    case 'LeastAllocated':
      return weightedMean(uses, ({ requested, allocatable }) =>
        requested > allocatable ? 0n : ((allocatable - requested) * 100n) / allocatable,
      );
    case 'MostAllocated':
      return weightedMean(uses, ({ requested, allocatable }) => ((requested > allocatable ? allocatable : requested) * 100n) / allocatable);
    case 'RequestedToCapacityRatio':
      return ratioScore(uses, strategy.shape);
  }
}

/** How the pod changes the balance between its resources. undefined: it asks for none. */
export function balanceScores(
  { pod: { requests }, profile: { balancedResources: resources } }: PlacementInput,
  feasible: readonly NodeState[],
): readonly number[] | undefined {
  if (resources.every(({ name }) => (requests.get(name) ?? 0n) === 0n)) return undefined;
  return feasible.map((state) => {
    const uses = usesOf(resources, requests, state, state.used);
    const change = balanceOf(uses, ({ requested }) => requested) - balanceOf(uses, ({ without }) => without);
    return 50 + Math.trunc((50 + change) / 2);
  });
}

/** A resource that the node does not have, or an extended one that the pod does not ask for, does not count. */
function usesOf(
  resources: readonly WeightedResource[],
  asked: Amounts,
  { node, used: allUsed }: NodeState,
  used: Amounts,
): readonly ResourceUse[] {
  return resources.flatMap(({ name, weight }) => {
    const isPlain = ['cpu', 'memory', 'ephemeral-storage'].includes(name);
    const request = asked.get(name) ?? 0n;
    const allocatable = node.allocatable.get(name) ?? 0n;
    if (allocatable === 0n || (request === 0n && !isPlain)) return [];
    const without = (name === 'cpu' || name === 'memory' ? used : allUsed).get(name) ?? 0n;
    return [{ name, weight, requested: without + request, without, allocatable }];
  });
}

function weightedMean(uses: readonly ResourceUse[], scoreOf: (use: ResourceUse) => bigint): number {
  const weights = uses.reduce((sum, { weight }) => sum + weight, 0n);
  if (weights === 0n) return 0;
  return Number(uses.reduce((sum, use) => sum + scoreOf(use) * use.weight, 0n) / weights);
}

/** Resources with a score of 0 do not count. */
function ratioScore(uses: readonly ResourceUse[], shape: readonly UtilizationPoint[]): number {
  const scored = uses
    .map(({ requested, allocatable, weight }) => ({
      weight,
      score: pointOn(shape, requested > allocatable ? 100n : (requested * 100n) / allocatable),
    }))
    .filter(({ score }) => score > 0n);
  const weights = scored.reduce((sum, { weight }) => sum + weight, 0n);
  if (weights === 0n) return 0;
  return Math.round(Number(scored.reduce((sum, { score, weight }) => sum + score * weight, 0n)) / Number(weights));
}

/** Between two points a straight line; beyond the ends the value of the end. */
function pointOn(shape: readonly UtilizationPoint[], utilization: bigint): bigint {
  const index = shape.findIndex((point) => utilization <= point.utilization);
  const [left, right] = [shape[index - 1], shape[index]];
  if (right === undefined) return shape.at(-1)?.score ?? 0n;
  if (left === undefined) return right.score;
  return left.score + ((right.score - left.score) * (utilization - left.utilization)) / (right.utilization - left.utilization);
}

/** 100 less the standard deviation of the shares in use. */
function balanceOf(uses: readonly ResourceUse[], usedOf: (use: ResourceUse) => bigint): number {
  const shares = uses.map((use) => Math.min(Number(usedOf(use)) / Number(use.allocatable), 1));
  return Math.trunc((1 - deviation(shares)) * 100);
}

function deviation(shares: readonly number[]): number {
  const [first = 0, second = 0] = shares;
  if (shares.length === 2) return Math.abs((first - second) / 2);
  if (shares.length < 2) return 0;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) * (share - mean), 0) / shares.length);
}
