package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// settleFlags are the flags by which what was decided for names is settled.
type settleFlags struct {
	caller, identity string
}

func newConsentTakeover(r *run) *cobra.Command {
	var f settleFlags
	cmd := &cobra.Command{
		Use:   "takeover [app [tool]] --caller <name> --identity <who>",
		Short: "Give what was decided by a name alone to the one whose name it was",
		Long: "Gives what was allowed and refused by a caller's name alone, before callers were told apart,\n" +
			"to the one whose name it was. Until then it admits nothing; consent list marks it.",
		Example:           "  aai-gateway consent takeover --caller mcp:claude-code --identity '/usr/bin/node /opt/claude/cli.js'",
		Args:              operands(0, 2),
		ValidArgsFunction: r.completeAppTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.caller == "" || f.identity == "" {
				return usage(cmd, "--caller and --identity are needed: the name, and whose it was")
			}
			return r.settle(cmd.Context(), "consent_takeover", append(args, "", "")[:2], f)
		},
	}
	cmd.Flags().StringVar(&f.caller, "caller", "", "the `name`, as consent list shows it")
	cmd.Flags().StringVar(&f.identity, "identity", "", "`who` that is for certain, as questions and refusals say")
	return cmd
}

func newConsentDrop(r *run) *cobra.Command {
	var f settleFlags
	cmd := &cobra.Command{
		Use:               "drop [app [tool]]",
		Short:             "Forget what was decided by a name alone",
		Example:           "  aai-gateway consent drop\n  aai-gateway consent drop --caller mcp:claude-code",
		Args:              operands(0, 2),
		ValidArgsFunction: r.completeAppTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.settle(cmd.Context(), "consent_drop", append(args, "", "")[:2], f)
		},
	}
	cmd.Flags().StringVar(&f.caller, "caller", "", "only for this `name`")
	return cmd
}

func (r *run) settle(ctx context.Context, tool string, appTool []string, f settleFlags) error {
	args := given(map[string]string{"app": appTool[0], "tool": appTool[1], "caller": f.caller, "identity": f.identity})
	result, err := r.own(ctx, tool, args)
	if err != nil {
		return err
	}
	return r.output.show(result.Data, func() error {
		done, err := view[struct{ Taken, Dropped int }](result.Data)
		if err != nil {
			return err
		}
		if tool == "consent_drop" {
			r.output.say("Dropped: %d.", done.Dropped)
		} else {
			r.output.say("Taken over: %d.", done.Taken)
		}
		return nil
	})
}
