package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

// nameOnlyFlags select the consents for a name without an identity.
type nameOnlyFlags struct {
	caller, identity string
	file             bool
}

func newConsentTakeover(r *run) *cobra.Command {
	var f nameOnlyFlags
	cmd := &cobra.Command{
		Use:   "takeover [app [tool]] (--caller <name> --identity <who> | --file)",
		Short: "Give what was decided by a name alone to the one whose name it was, or seal what a plain file allows",
		Long: "Gives what was allowed and refused by a caller's name alone, before callers were told apart,\n" +
			"to the one whose name it was. With --file it seals what the plain file consent.json allows, which\n" +
			"may be from when there was no keychain. Until then they admit nothing; consent list marks them.",
		Example: "  aai-gateway consent takeover --caller mcp:claude-code --identity '/usr/bin/node /opt/claude/cli.js'\n" +
			"  aai-gateway consent takeover org.example.notes --file",
		Args:              operands(0, 2),
		ValidArgsFunction: r.completeAppTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.file {
				if f.caller != "" || f.identity != "" {
					return usage(cmd, "--file goes with neither --caller nor --identity")
				}
				return r.takeOverFile(cmd.Context(), append(args, "", "")[:2])
			}
			if f.caller == "" || f.identity == "" {
				return usage(cmd, "--caller and --identity are needed: the name, and whose it was; or --file")
			}
			return r.resolveNameOnly(cmd.Context(), "consent_takeover", append(args, "", "")[:2], f)
		},
	}
	cmd.Flags().StringVar(&f.caller, "caller", "", "the `name`, as consent list shows it")
	cmd.Flags().StringVar(&f.identity, "identity", "", "`who` that is for certain, as questions and refusals say")
	cmd.Flags().BoolVar(&f.file, "file", false, "what the plain file consent.json allows")
	return cmd
}

// takeOverFile asks the gateway to adopt the consents of a plain file, each by its name.
func (r *run) takeOverFile(ctx context.Context, appTool []string) error {
	listed, err := r.callBuiltin(ctx, "consent_list", nil)
	if err != nil {
		return err
	}
	s, err := r.readTable(ctx, "consent_list", listed.Data)
	if err != nil {
		return err
	}
	var named []any
	for _, consent := range s.rows {
		name := memberText(consent, "takeover")
		if name != "" && (appTool[0] == "" || memberText(consent, "app") == appTool[0]) && (appTool[1] == "" || memberText(consent, "tool") == appTool[1]) {
			r.output.note(aai.CleanLabel(name, maxLine))
			named = append(named, name)
		}
	}
	if len(named) == 0 {
		return aai.Errorf(aai.InvalidParams, "nothing of that is in a plain file and waits to be taken over")
	}
	result, err := r.callBuiltin(ctx, "consent_takeover", map[string]any{"file": named})
	if err != nil {
		return err
	}
	return r.showTakenOver(result, false)
}

func newConsentDrop(r *run) *cobra.Command {
	var f nameOnlyFlags
	cmd := &cobra.Command{
		Use:               "drop [app [tool]]",
		Short:             "Forget what was decided by a name alone",
		Example:           "  aai-gateway consent drop\n  aai-gateway consent drop --caller mcp:claude-code",
		Args:              operands(0, 2),
		ValidArgsFunction: r.completeAppTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.resolveNameOnly(cmd.Context(), "consent_drop", append(args, "", "")[:2], f)
		},
	}
	cmd.Flags().StringVar(&f.caller, "caller", "", "only for this `name`")
	return cmd
}

func (r *run) resolveNameOnly(ctx context.Context, tool string, appTool []string, f nameOnlyFlags) error {
	args := nonEmpty(map[string]string{"app": appTool[0], "tool": appTool[1], "caller": f.caller, "identity": f.identity})
	result, err := r.callBuiltin(ctx, tool, args)
	if err != nil {
		return err
	}
	return r.showTakenOver(result, tool == "consent_drop")
}

func (r *run) showTakenOver(result *aai.Result, dropped bool) error {
	return r.output.show(result.Data, func() error {
		done, err := decodeView[struct{ Taken, Dropped int }](result.Data)
		if err != nil {
			return err
		}
		if dropped {
			r.output.say("Dropped: %d.", done.Dropped)
		} else {
			r.output.say("Taken over: %d.", done.Taken)
		}
		return nil
	})
}
