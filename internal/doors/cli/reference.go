package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gybob/aai-gateway"
)

// ExitOf returns the exit code of a command that ends with an error of that code.
func ExitOf(code aai.Code) int { return exitOf(code) }

// CommandTree returns the whole command line as a tree, for a manual for example. The tree
// must not be executed.
func CommandTree(cfg Config) *cobra.Command {
	r := &run{cfg: withDefaults(cfg)}
	r.output = &output{out: r.cfg.Out, err: r.cfg.Err}
	return newRoot(r, nil)
}

// ReferenceMarkdown returns the usage of each command of [CommandTree] in Markdown.
func ReferenceMarkdown(cfg Config) string {
	var b strings.Builder
	commandText(&b, CommandTree(cfg))
	return b.String()
}

// commandText writes the usage of a command and of its subcommands.
func commandText(b *strings.Builder, cmd *cobra.Command) {
	if cmd.Hidden {
		return
	}
	about := cmd.Long
	if about == "" {
		about = strings.TrimSuffix(cmd.Short, ".") + "."
	}
	fmt.Fprintf(b, "\n## %s\n\n```\n%s\n```\n\n%s\n", cmd.CommandPath(), cmd.UseLine(), strings.ReplaceAll(escaped(about), "\n", " "))
	if cmd.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", unindented(cmd.Example))
	}
	var rows []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name, words := pflag.UnquoteUsage(f)
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", strings.TrimSpace("--"+f.Name+" "+name), escaped(words)))
	})
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n| flag | meaning |\n| --- | --- |\n%s\n", strings.Join(rows, "\n"))
	}
	for _, below := range cmd.Commands() {
		commandText(b, below)
	}
}

// escaped escapes the characters of text that have a meaning in Markdown.
func escaped(text string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`).Replace(text)
}

func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}
