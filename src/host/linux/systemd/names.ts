/** systemd's name on the bus, and what its interfaces begin with (org.freedesktop.systemd1(5)). */
export const SYSTEMD = 'org.freedesktop.systemd1';

/** Its manager: what a call to it begins with. */
export const MANAGER = { path: '/org/freedesktop/systemd1', interface: `${SYSTEMD}.Manager`, destination: SYSTEMD };

/** By which every object tells of itself. */
export const PROPERTIES = 'org.freedesktop.DBus.Properties';
