import { existsSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { attempt } from '../../../errors.js';
import type { Profile } from './profiles.js';

const KUBELET = ['var/lib/kubelet/config.yaml', 'etc/kubernetes/kubelet.conf'];
const CRI = ['run/containerd/containerd.sock', 'run/crio/crio.sock'];
const OTHER_RUNTIMES = ['run/docker.sock', 'run/podman/podman.sock'];
const DISPLAY_MANAGER = 'etc/systemd/system/display-manager.service';
const DEFAULT_TARGET = 'etc/systemd/system/default.target';

export interface DetectedProfile {
  readonly profile: Profile;
  /** What was found. */
  readonly because: string;
  /** unix:///PATH of the first container runtime with CRI; undefined: none. */
  readonly endpoint: string | undefined;
}

/** What this machine runs, by its files. @param root  '/' */
export function detectedProfile(root = '/'): DetectedProfile {
  const found = (paths: readonly string[]): string | undefined => paths.find((path) => existsSync(join(root, path)));
  const socket = found(CRI);
  const endpoint = socket === undefined ? undefined : `unix:///${socket}`;
  const as = (profile: Profile, path: string): DetectedProfile => ({ profile, because: `/${path} exists`, endpoint });
  const kubelet = found(KUBELET);
  if (kubelet !== undefined) return as('kubelet', kubelet);
  const runtime = socket ?? found(OTHER_RUNTIMES);
  if (runtime !== undefined) return as('containers', runtime);
  if (found([DISPLAY_MANAGER]) !== undefined) return as('desktop', DISPLAY_MANAGER);
  if (targetOf(join(root, DEFAULT_TARGET)) === 'graphical.target')
    return { profile: 'desktop', because: 'graphical.target is the default', endpoint };
  return { profile: 'server', because: 'there is no kubelet, container runtime or desktop', endpoint };
}

function targetOf(link: string): string | undefined {
  return attempt(() => basename(readlinkSync(link))); // the distribution's default
}
