package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// newStopCommand returns the command stop or start.
func (r *run) newStopCommand(cmd *cobra.Command, t toolCommand) *cobra.Command {
	t.flags = []toolFlag{
		{"call", "", "only the `call` with this id, and the calls that it makes"},
		{"caller", "", "only the calls of this `identity`, as running shows it; mcp: for all agents that have none"},
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if cmd.Flag("call").Value.String() != "" && cmd.Flag("caller").Value.String() != "" {
			return usage(cmd, "--call and --caller are given; give one of them, or neither for everything")
		}
		return operands(0, 0)(cmd, args)
	}
	return r.newToolCommand(cmd, t)
}

func newStop(r *run) *cobra.Command {
	return r.newStopCommand(&cobra.Command{
		Use:   "stop",
		Short: "Stop everything that agents do, at once",
		Long: "Ends every call that is under way, in all gateways, and refuses all others, until `" + program + " start`.\n" +
			"Effects of a call until then are not undone: its outcome reports what is known of them.",
	}, toolCommand{
		tool: "stop", prepare: func(*toolCall) error { return r.openOrMinimal() },
		show: decoded(func(r *run, shown struct{ Stopped answer.Stop }, c *toolCall) {
			r.output.raw("Stopped " + shown.Stopped.String() + ".\n")
			if shown.Stopped.Call == "" {
				r.output.note("To start again: " + shown.Stopped.StartCommand())
			}
			if c.result.Warning != "" {
				r.output.warn(c.result.Warning)
			}
		}),
	})
}

// openOrMinimal opens the gateway, or the minimal one if that fails, so that stop and
// running always work.
func (r *run) openOrMinimal() error {
	_, broken := r.gateway()
	if broken == nil || r.cfg.OpenMinimal == nil {
		return broken
	}
	gateway, err := r.cfg.OpenMinimal()
	if err != nil {
		return errors.Join(err, broken)
	}
	r.cachedGateway = gateway
	r.output.warnAnyway("this is not recorded, because the gateway cannot be opened: " + aai.AsError(broken).Message)
	return nil
}

func newStart(r *run) *cobra.Command {
	return r.newStopCommand(&cobra.Command{
		Use:   "start",
		Short: "Start stopped calls again",
		Long: "Ends a stop by `" + program + " stop`: without a flag the stop of everything. A caller or a call\n" +
			"that was stopped by name stays stopped until you name it here. It asks you in a window, or for your passphrase.",
	}, toolCommand{tool: "start", show: decoded(func(r *run, shown struct{ Started, Stopped []answer.Stop }, _ *toolCall) {
		for _, h := range shown.Started {
			r.output.raw("Started again: " + h.String() + ".\n")
		}
		for _, h := range shown.Stopped {
			if h.Call == "" {
				r.output.note("Still stopped: " + h.String() + "; to start it again: " + h.StartCommand())
			}
		}
	})})
}

func newRunning(r *run) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:   "running",
		Short: "Show running calls, and what is stopped",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.openOrMinimal(); err != nil {
				return err
			}
			version, err := r.running(cmd.Context(), nil)
			for watch && err == nil {
				version, err = r.running(cmd.Context(), map[string]any{"after": version, "wait": 30})
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "show it again after each change, until interrupted")
	return cmd
}

// running shows the active calls and the stops. It returns their version: with it as the argument
// "after" the next call waits for a change.
func (r *run) running(ctx context.Context, args map[string]any) (version string, err error) {
	result, err := r.callBuiltin(ctx, "running", args)
	if err != nil {
		return "", err
	}
	shown, err := decodeView[answer.ActiveCalls[answer.ActiveCall]](result.Data)
	if err != nil || args != nil && args["after"] == shown.Version {
		return shown.Version, err
	}
	s, err := r.readTable(ctx, "running", result.Data)
	if err != nil {
		return "", err
	}
	return shown.Version, r.output.show(result.Data, func() error {
		r.output.showAnswerTable(s, nil, nil)
		if len(s.rows) == 0 {
			r.output.note("Nothing runs.")
		}
		if shown.Omitted > 0 {
			r.output.note("There are more calls than are shown.")
		}
		for _, l := range shown.Leases {
			r.output.note(aai.CleanText(l.String(), maxLine) + ".")
		}
		for _, h := range shown.Stops {
			r.output.note("Stopped: " + h.String() + ".")
		}
		if shown.Unreadable != "" {
			r.output.note("The list of stops cannot be read, so everything is stopped: " + aai.CleanText(shown.Unreadable, maxLine))
		}
		return nil
	})
}
