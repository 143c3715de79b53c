import type { Architecture } from '../program-tree.js';

const MAINTAINER = process.env.DEB_MAINTAINER ?? 'evictd maintainers <maintainers@evictd.invalid>';

/** The control file of the package: deb-control(5). */
export function control(version: string, architecture: Architecture, installedBytes: number): string {
  return `Package: evictd
Version: ${version}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${String(Math.ceil(installedBytes / 1024))}
Depends: libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 9), init-system-helpers (>= 1.54~)
Recommends: systemd
Section: admin
Priority: optional
Description: node-pressure eviction monitor
 Keeps a machine alive when memory, disk, inodes or process ids run out: it
 is woken by the kernel's own signals and evicts the least important workload
 before the kernel's OOM killer picks an arbitrary process, and it records why.
 .
 As installed it watches, exports metrics and evicts nothing: workloads are
 named in /etc/evictd/config.yaml. It brings a Node.js of its own.
`;
}

/** deb-changelog(5). @param seconds  since 1970 */
export function changelog(version: string, seconds: string): string {
  const date = new Date(Number(seconds) * 1000).toUTCString().replace('GMT', '+0000');
  return `evictd (${version}) unstable; urgency=medium\n\n  * CHANGELOG.md has the changes.\n\n -- ${MAINTAINER}  ${date}\n`;
}
