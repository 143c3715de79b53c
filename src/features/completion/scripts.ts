import type { OptionValue, ShownCommand, ShownOption } from './shown-command.js';

export const SCRIPTS = { bash, zsh, fish } as const;

type ShellName = keyof typeof SCRIPTS;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const titleOf = (shell: ShellName): string => `# Completion of evictd for ${shell}, by \`evictd completion ${shell}\`.`;
const paths = (commands: readonly ShownCommand[]): string[] =>
  commands.flatMap(({ path, commands: below }) => below.map(({ name }) => `${path} ${name}`));

/** Options that have the same description and values in several commands, once, with the paths of these. */
function distinctOptions(commands: readonly ShownCommand[]): { readonly option: ShownOption; readonly paths: readonly string[] }[] {
  const found = new Map<string, { option: ShownOption; paths: string[] }>();
  for (const { path, options } of commands) {
    for (const option of options) {
      const key = JSON.stringify(option);
      found.set(key, { option, paths: [...(found.get(key)?.paths ?? []), path] });
    }
  }
  return [...found.values()];
}

function bash(commands: readonly ShownCommand[]): string {
  const values = distinctOptions(commands).flatMap(({ option: { short, long, value }, paths: of }) => {
    if (value === undefined) return [];
    const names = short === undefined ? [long] : [long, short];
    const patterns = of.flatMap((path) => names.map((name) => quoted(`${path} ${name}`)));
    return [`    ${patterns.join(' | ')}) ${bashValue(value)}; return ;;`];
  });
  const words = commands.map(({ path, options, commands: below, argument }) => {
    const all = [
      ...below.map(({ name }) => name),
      ...(argument?.kind === 'words' ? argument.words : []),
      ...options.map(({ long }) => long),
    ];
    const files = argument?.kind === 'file' ? '; files=1' : '';
    return `    ${quoted(path)}) words=${quoted(all.join(' '))}${files} ;;`;
  });
  return `${titleOf('bash')}
_evictd() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command='' words='' files='' word i
  if [[ $cur == '=' ]]; then cur=''; elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "$command $word" in
    ${paths(commands).map(quoted).join(' | ')}) command=\${command:+$command }$word ;;
    esac
  done
  COMPREPLY=()
  case "$command $prev" in
${values.join('\n')}
  esac
  case "$command" in
${words.join('\n')}
  esac
  if [[ $files && $cur != -* ]]; then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
  mapfile -t -O \${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _evictd evictd
`;
}

function bashValue(value: OptionValue): string {
  switch (value.kind) {
    case 'words':
      return `mapfile -t COMPREPLY < <(compgen -W ${quoted(value.words.join(' '))} -- "$cur")`;
    case 'file':
      return 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur")';
    case 'directory':
      return 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur")';
    case 'text':
      return ':';
  }
}

function zsh(commands: readonly ShownCommand[]): string {
  const cases = commands.map(({ path, options, commands: below, argument }) => {
    const named = below.map(({ name, description }) => quoted(`${name}:${description.replaceAll(':', '\\:')}`));
    const describe = named.length === 0 ? '' : `\n      (( CURRENT == 2 )) && { items=(${named.join(' ')}); _describe command items }`;
    const rest = argument === undefined ? [] : [quoted(`*:argument:${zshValue(argument)}`)];
    const specs = [...options.map(zshOption), ...rest];
    return `    ${quoted(path)})${describe}\n      _arguments -s : ${specs.join(' ')} ;;`;
  });
  return `#compdef evictd
${titleOf('zsh')}
_evictd() {
  local command='' word
  local -i depth=2 i
  local -a items
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    case "$command $word" in
    ${paths(commands)
      .map((path) => path.replaceAll(' ', '\\ '))
      .join('|')}) command=\${command:+$command }$word; depth=i+1 ;;
    esac
  done
  words=(evictd "\${(@)words[depth,-1]}") CURRENT=CURRENT-depth+2
  case "$command" in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _evictd ]]; then _evictd "$@"; else compdef _evictd evictd; fi
`;
}

function zshOption({ short, long, description, value }: ShownOption): string {
  const text = description.replace(/[[\]:\\]/g, '\\$&');
  const after = value === undefined ? '' : `:value:${zshValue(value)}`;
  const spec = quoted(`[${text}]${after}`);
  return short === undefined ? `'*'${long}${spec}` : `'*'{${short},${long}}${spec}`;
}

function zshValue(value: OptionValue): string {
  switch (value.kind) {
    case 'words':
      return `(${value.words.join(' ')})`;
    case 'file':
      return '_files';
    case 'directory':
      return '_files -/';
    case 'text':
      return ' ';
  }
}

function fish(commands: readonly ShownCommand[]): string {
  const condition = (of: readonly string[]): string => `-n ${quoted(`__evictd_command ${of.map((path) => `"${path}"`).join(' ')}`)}`;
  const below = commands.flatMap(({ path, commands: names }) =>
    names.map(({ name, description }) => `complete -c evictd ${condition([path])} -a ${name} -d ${fishText(description)}`),
  );
  const options = distinctOptions(commands).map(({ option: { short, long, description, value }, paths: of }) =>
    [
      `complete -c evictd ${condition(of)} -l ${long.slice(2)}`,
      ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
      `-d ${fishText(description)}`,
      ...(value === undefined ? [] : [fishValue(value)]),
    ].join(' '),
  );
  const argued = commands.flatMap(({ path, argument }) =>
    argument === undefined ? [] : [`complete -c evictd ${condition([path])} ${fishValue(argument).replace(/^-[rx] /, '')}`],
  );
  return `${titleOf('fish')}
function __evictd_command
    set -l command ''
    for word in (commandline -opc)[2..-1]
        switch "$command $word"
            case ${paths(commands).map(quoted).join(' ')}
                set command (string trim "$command $word")
        end
    end
    contains -- "$command" $argv
end
complete -c evictd -f
${[...below, ...options, ...argued].join('\n')}
`;
}

const fishText = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

function fishValue(value: OptionValue): string {
  switch (value.kind) {
    case 'words':
      return `-x -a ${fishText(value.words.join(' '))}`;
    case 'file':
      return '-r -F';
    case 'directory':
      return "-x -a '(__fish_complete_directories)'";
    case 'text':
      return '-x';
  }
}
