/**
 * Programs whose end takes a login session, or all that a user runs, with it. evictd ends none of them alone. A session of a
 * desktop without units of its own (sway from a console, Xorg) has them in its scope, beside the applications.
 */
const SESSION_PROGRAMS: ReadonlySet<string> = new Set(
  `
  systemd init elogind seatd dbus-daemon dbus-broker dbus-broker-launch
  login agetty sshd sshd-session dropbear su sudo doas
  gdm gdm3 gdm-session-worker gdm-wayland-session gdm-x-session sddm sddm-helper lightdm greetd ly lxdm xdm xrdp-sesman
  gnome-session gnome-session-binary gnome-session-service gnome-session-init-worker ksmserver plasma_session
  startplasma-wayland startplasma-x11 xfce4-session lxsession lxqt-session mate-session cinnamon-session cosmic-session
  uwsm startx xinit
  X Xorg Xorg.bin Xwayland Xtigervnc Xvnc gnome-shell mutter kwin_wayland kwin_wayland_wrapper kwin_x11 sway Hyprland river
  labwc wayfire weston cage niri cosmic-comp phoc enlightenment gamescope cinnamon muffin marco xfwm4 openbox fluxbox
  icewm i3 awesome bspwm dwm herbstluftwm qtile xmonad
  `
    .trim()
    .split(/\s+/),
);

/** The programs that are scripts: their executable is the interpreter. */
const SCRIPTS: ReadonlySet<string> = new Set(['qtile', 'uwsm', 'startx']);
const INTERPRETER = /^(python|(ba|da)?sh$)/;

/** The kernel keeps this many bytes of a command's name. */
const COMMAND_BYTES = 15;
const COMMANDS: ReadonlySet<string> = new Set([...SESSION_PROGRAMS, '(sd-pam)'].map((name) => name.slice(0, COMMAND_BYTES)));

/**
 * Whether a session depends on a process. A command's name counts only with its program, because a process chooses its name.
 *
 * @param program  the base name of its executable; undefined: cannot be read
 */
export function isSessionProgram(command: string, program: () => string | undefined): boolean {
  if (!COMMANDS.has(command)) return false;
  const name = program();
  return name === undefined || SESSION_PROGRAMS.has(name) || (SCRIPTS.has(command) && INTERPRETER.test(name));
}
