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
		Use:   "takeover [app [tool]] (--caller <name> --identity <identity> | --file)",
		Short: "Assign consents stored by a name alone to an identity, or seal those of a plain file",
		Long: "Assigns consents and refusals stored by a caller's name alone, before callers had identities,\n" +
			"to an identity. With --file it seals the consents of the plain file consent.json, which\n" +
			"may be from a time without a keychain. Until then they allow nothing; consent list marks them.",
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
				return usage(cmd, "give --caller and --identity: the name, and the identity that used it; or --file")
			}
			return r.resolveNameOnly(cmd.Context(), "consent_takeover", append(args, "", "")[:2], f)
		},
	}
	cmd.Flags().StringVar(&f.caller, "caller", "", "the `name`, as consent list shows it")
	cmd.Flags().StringVar(&f.identity, "identity", "", "the verified `identity`, as questions and refusals show it")
	cmd.Flags().BoolVar(&f.file, "file", false, "the consents of the plain file consent.json")
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
		return aai.Errorf(aai.InvalidParams, "no such consent in a plain file can be taken over")
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
		Short:             "Delete consents stored by a name alone",
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
