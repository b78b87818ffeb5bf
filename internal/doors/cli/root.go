package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gybob/aai-gateway"
)

const program = "aai-gateway"

// newRoot builds the whole command line.
func newRoot(r *run, args []string) *cobra.Command {
	var mcp, scan, discover, web, version bool
	var describe string
	root := &cobra.Command{
		Use:   r.cfg.Name + " [command]",
		Short: "Runs the tools of this computer's apps for AI agents",
		Long: r.cfg.Name + " runs the tools that the apps of this computer declare in aai.json.\n" +
			"Without a command it serves an AI agent over MCP on standard input and output.\n" +
			"First steps: doctor tests this computer, install connects your agent, discover finds what its programs offer.",
		Args: func(cmd *cobra.Command, args []string) error {
			if discover {
				return operands(0, 1)(cmd, args) // the address of a site
			}
			return unknownCommandArgs(cmd, args)
		},
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case version:
				return runInstead(cmd, "version")
			case scan && mcp:
				return usage(cmd, "--mcp and --scan are two commands; give one of them")
			case web && (mcp || scan || discover || describe != ""):
				return usage(cmd, "--web, --discover, --generate, --mcp and --scan are commands; give one of them")
			case discover && (mcp || scan || describe != ""), describe != "" && (mcp || scan):
				return usage(cmd, "--discover, --generate, --mcp and --scan are commands; give one of them")
			case discover:
				return runInstead(cmd, "discover", args...)
			case describe != "":
				return runInstead(cmd, "generate", describe)
			case web:
				return runInstead(cmd, "web")
			case scan:
				return runInstead(cmd, "scan")
			}
			return r.serve(cmd.Context(), ServeOptions{Changes: toolNames(cmd)})
		},
	}
	root.Flags().BoolVar(&mcp, "mcp", false, "serve MCP on standard input and output, as without a command")
	root.Flags().BoolVar(&scan, "scan", false, "check every aai.json of this computer, as the command scan")
	root.Flags().BoolVar(&discover, "discover", false, "find the app of the web site whose address follows, as the command discover")
	root.Flags().StringVar(&describe, "generate", "", "write an aai.json for the program `app`, as the command generate")
	if r.cfg.ServeWeb != nil {
		root.Flags().BoolVar(&web, "web", false, "open the page with running and past calls, as the command web")
	}
	root.Flags().BoolVar(&version, "version", false, "print the version")
	addToolNames(root)
	addPersistentFlags(root, r)
	root.SetFlagErrorFunc(flagError)
	root.SetIn(r.cfg.In)
	root.SetOut(r.cfg.Out)
	root.SetErr(r.cfg.Err)
	root.SetArgs(args)
	addCommands(root, r)
	setDefaults(root)
	nameExamples(root, r.cfg.Name)
	return root
}

// runInstead runs a command of the root with operands and without flags.
func runInstead(root *cobra.Command, name string, operands ...string) error {
	cmd, _, err := root.Find([]string{name})
	if err != nil {
		return err
	}
	cmd.SetContext(root.Context())
	return cmd.RunE(cmd, operands)
}

// setDefaults completes cmd and the commands below it: without Args a command takes no operands,
// and without a completion it offers no files.
func setDefaults(cmd *cobra.Command) {
	if cmd.Args == nil {
		cmd.Args = operands(0, 0)
	}
	if cmd.ValidArgsFunction == nil && cmd.ValidArgs == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, below := range cmd.Commands() {
		setDefaults(below)
	}
}

// nameExamples shows the program's own name in the examples of cmd and of the commands below it.
func nameExamples(cmd *cobra.Command, name string) {
	cmd.Example = strings.ReplaceAll(cmd.Example, program+" ", name+" ")
	for _, below := range cmd.Commands() {
		nameExamples(below, name)
	}
}

func addCommands(root *cobra.Command, r *run) {
	root.AddCommand(
		newMCP(r), newExec(r), newApps(r), newGuide(r), newSearch(r), newRate(r), newStats(r), newDiscover(r), newScan(r), newLint(r), newGenerate(r), newImport(r), newConfig(r), newSettings(r),
		newStop(r), newStart(r), newRunning(r), newHistory(r), newAudit(r), newConsent(r), newMode(r), newKeychain(r), newAuth(r), newCheck(r),
		newBrowser(r), newSecret(r), newWorkflow(r), newRecord(r), newReplay(r), newSkills(r), newCompletion(r), newVersion(r),
	)
	if r.cfg.Clients != nil {
		root.AddCommand(newInstall(r), newUninstall(r))
	}
	if r.cfg.ServeWeb != nil {
		root.AddCommand(newWeb(r))
	}
	root.AddCommand(newShortcuts(r)...)
	root.AddCommand(newWindowChecks(r)...)
	root.SetHelpCommand(newHelp())
	if r.cfg.RunDemo != nil {
		root.AddCommand(newDemo(r))
	}
	if r.cfg.RunSession != nil {
		root.AddCommand(newSession(r))
	}
	if r.cfg.NewDoctor != nil {
		root.AddCommand(newDoctor(r))
	}
}

func addPersistentFlags(root *cobra.Command, r *run) {
	format := &enumFlag{value: &r.output.format, allowed: []string{formatText, formatJSON, formatQuiet}}
	level := &enumFlag{value: &r.flags.LogLevel, allowed: []string{"debug", "info", "warn", "error"}}
	flags := root.PersistentFlags()
	flags.StringVar(&r.flags.Config, "config", "", "read this configuration `file`")
	flags.Var(level, "log-level", "debug, info, warn or error")
	flags.BoolVar(&r.flags.Dev, "dev", false, "for developers of apps: look in build folders too, allow web apps of this computer over http")
	flags.BoolVar(&r.flags.InsecureStorage, "insecure-storage", false, "where there is no keychain, keep the key of secrets in a file")
	flags.Var(format, "format", "text, json or quiet: only the exit code")
	complete(root, "format", format.allowed...)
	complete(root, "log-level", level.allowed...)
}

// enumFlag is the value of a flag that accepts one of a few words.
type enumFlag struct {
	value   *string
	allowed []string
}

func (o *enumFlag) String() string {
	if o.value == nil {
		return ""
	}
	return *o.value
}

func (o *enumFlag) Type() string { return "word" }

func (o *enumFlag) Set(word string) error {
	if !slices.Contains(o.allowed, word) {
		return fmt.Errorf("expected one of: %s", strings.Join(o.allowed, ", "))
	}
	*o.value = word
	return nil
}

func newVersion(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			return r.output.show(map[string]string{"version": r.cfg.Version}, func() error {
				r.output.say("%s %s", program, r.cfg.Version)
				return nil
			})
		},
	}
}

func newDemo(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See the gateway at work, with real apps in a session of their own",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.cfg.RunDemo(cmd.Context(), r.flags, r.cfg.Out)
		},
	}
}

// newHelp is cobra's help command, except that an unknown topic is a usage error.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]...",
		Short: "Show the help of a command",
		Args:  cobra.ArbitraryArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, unknown, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if err := unknownCommandArgs(about, unknown); err != nil {
				return err
			}
			return about.Help()
		},
	}
}

// usage returns a usageError with the usage line of cmd.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{message: fmt.Sprintf(format, args...), usage: cmd.UseLine()}
}

// unknownCommandArgs is the Args of the root and of commands that only hold others: any
// operand is an unknown command.
func unknownCommandArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	return &usageError{
		message:    fmt.Sprintf("%s has no command %q", cmd.CommandPath(), aai.CleanLabel(args[0], 60)),
		candidates: aai.Nearest(args[0], names, 1),
		usage:      cmd.UseLine(),
	}
}

// newGroup returns a command that only holds others.
func newGroup(use, short string, below ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: use, Short: short, Args: unknownCommandArgs, RunE: groupCommand}
	group.AddCommand(below...)
	return group
}

// groupCommand is the RunE of a command that only holds others.
func groupCommand(cmd *cobra.Command, _ []string) error {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return usage(cmd, "%s needs one of its commands: %s", cmd.CommandPath(), strings.Join(names, ", "))
}

// operands is the Args of a command with low to high operands; a negative high means any
// number.
func operands(low, high int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < low:
			return usage(cmd, "%s needs more: %d of at least %d operands are given", cmd.CommandPath(), len(args), low)
		case high >= 0 && len(args) > high:
			return usage(cmd, "%s: unexpected operand %q", cmd.CommandPath(), aai.CleanLabel(args[high], 60))
		}
		return nil
	}
}

// flagError returns the error for a flag that does not exist or has an invalid value.
func flagError(cmd *cobra.Command, err error) error {
	e := &usageError{message: aai.CleanText(plainFlagError(err.Error()), maxLine), usage: cmd.UseLine()}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return e
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	e.candidates = aai.Nearest("--"+unknown.GetSpecifiedName(), names, 1)
	return e
}

// plainFlagError describes an invalid flag value without the terms of package strconv.
func plainFlagError(message string) string {
	what, _, found := strings.Cut(message, ": strconv.")
	switch {
	case !found:
		return message
	case strings.HasPrefix(message[len(what)+2:], "strconv.ParseBool"):
		return what + ": expected true or false"
	}
	return what + ": expected a whole number"
}
