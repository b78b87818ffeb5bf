package cli

import (
	"bytes"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

func newCompletion(r *run) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:       "completion <" + strings.Join(shells, "|") + ">",
		Aliases:   []string{"completions"},
		Short:     "Print a script that makes a shell complete this program's commands",
		Example:   "  source <(aai-gateway completion bash)",
		ValidArgs: shells,
		Args:      operands(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var script bytes.Buffer
			var err error
			switch args[0] {
			case "bash":
				err = cmd.Root().GenBashCompletionV2(&script, true)
			case "zsh":
				err = cmd.Root().GenZshCompletion(&script)
			case "fish":
				err = cmd.Root().GenFishCompletion(&script, true)
			case "powershell":
				err = cmd.Root().GenPowerShellCompletionWithDesc(&script)
			default:
				return &usageError{
					message:    "there is no completion for the shell " + aai.CleanLabel(args[0], 60),
					candidates: aai.Nearest(args[0], shells, 1),
					usage:      cmd.UseLine(),
				}
			}
			r.output.raw(script.String())
			return err
		},
	}
}

// completeFiles offers the names of files.
func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// complete offers fixed words for a flag.
func complete(cmd *cobra.Command, flag string, words ...string) {
	completeWith(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// completeWith panics if there is no such flag, which is a bug of this package that every
// test finds.
func completeWith(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}

// completeApp offers the ids of apps for one operand.
func (r *run) completeApp(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 && cmd.Name() == "guide" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offers []string
	for _, app := range r.knownApps() {
		offers = append(offers, offer(app.ID, app.Name))
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// completeAppTool offers the ids of apps, and then the names of the app's tools.
func (r *run) completeAppTool(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return r.completeApp(cmd, args, typed)
	}
	if len(args) > 1 && cmd.Name() == "exec" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offers []string
	for _, app := range r.knownApps() {
		if app.ID != args[0] && !slices.Contains(app.Aliases, args[0]) {
			continue
		}
		for _, tool := range app.Tools {
			offers = append(offers, offer(tool.Name, tool.Description))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// knownApps reads the catalog without a call: completion runs nothing, so it records
// nothing. It returns nil on an error.
func (r *run) knownApps() []*aai.App {
	gateway, err := r.gateway()
	if err != nil || gateway.Catalog == nil {
		return nil
	}
	return gateway.Catalog.Apps()
}

// offer formats a completion and its description for cobra.
func offer(word, description string) string {
	return aai.CleanLabel(word, maxLine) + "\t" + aai.CleanLabel(description, 80)
}

func codeNames() []string {
	codes := []aai.Code{
		aai.AutomationFailed, aai.AppNotFound, aai.ToolNotFound, aai.PermissionDenied, aai.ConsentRequired,
		aai.InvalidParams, aai.AutomationNotSupported, aai.DescriptorInvalid, aai.Timeout, aai.AppNotRunning, aai.ScriptParseError,
		aai.StaleRef, aai.AmbiguousTarget, aai.ElementNotFound,
		aai.AuthRequired, aai.AuthExpired, aai.AuthDenied, aai.AuthInvalid, aai.APIRequestFailed, aai.RateLimited, aai.RecordFailed, aai.Internal,
	}
	names := make([]string, len(codes))
	for i, code := range codes {
		names[i] = string(code)
	}
	return names
}
