export type OperatingSystem = 'linux' | 'windows';

/** The platform of a configuration, for its defaults and its checks. */
export type Platform =
  | { readonly os: 'linux' }
  /** The machine's data directory, 'C:\\ProgramData'. */
  | { readonly os: 'windows'; readonly programData: string };
