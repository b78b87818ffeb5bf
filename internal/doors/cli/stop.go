package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"aai"
	"aai/internal/hygiene"
)

// halts is what is stopped, as its tools answer.
type halts struct {
	Call   string `json:"call"`
	Caller string `json:"caller"`
	At     string `json:"at"`
}

// what says what is stopped.
func (h halts) what() string {
	switch {
	case h.Call != "":
		return "the call " + aai.CleanLabel(h.Call, maxLine)
	case strings.HasPrefix(h.Caller, aai.DoorMCP+":"):
		return "all calls by " + aai.DoorMCP + " of callers that nobody knows for certain"
	case h.Caller != "":
		return "all calls of " + aai.CleanLabel(h.Caller, maxLine)
	}
	return "everything"
}

// again is the command that starts it again.
func (h halts) again() string {
	switch {
	case h.Call != "":
		return hygiene.ShellWords(program, "start", "--call", h.Call)
	case h.Caller != "":
		return hygiene.ShellWords(program, "start", "--caller", h.Caller)
	}
	return program + " start"
}

// haltFlags say what is meant: everything without one.
type haltFlags struct{ call, caller string }

func (f *haltFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.call, "call", "", "only the `call` with this id, and what it makes")
	cmd.Flags().StringVar(&f.caller, "caller", "", "only the calls of this `identity`, as running shows it; mcp: for all agents that have none")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if f.call != "" && f.caller != "" {
			return usage(cmd, "--call and --caller are given; give one of them, or neither for everything")
		}
		return operands(0, 0)(cmd, args)
	}
}

func (f *haltFlags) args() map[string]any {
	return given(map[string]string{"call": f.call, "caller": f.caller})
}

func newStop(r *run) *cobra.Command {
	var which haltFlags
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop everything that agents do, at once",
		Long: "Ends every call that is under way, in all gateways, and refuses all others, until `" + program + " start`.\n" +
			"What a call has done by then is not taken back: its outcome says what is known of it.",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.orBare(); err != nil {
				return err
			}
			result, err := r.own(cmd.Context(), "stop", which.args())
			if err != nil {
				return err
			}
			return r.output.show(result.Data, func() error {
				shown, err := view[struct{ Stopped halts }](result.Data)
				if err != nil {
					return err
				}
				r.output.raw("Stopped " + shown.Stopped.what() + ".\n")
				if shown.Stopped.Call == "" {
					r.output.note("It stays so until: " + shown.Stopped.again())
				}
				if result.Warning != "" {
					r.output.note("warning: " + result.Warning)
				}
				return nil
			})
		},
	}
	which.add(cmd)
	return cmd
}

// orBare opens the gateway, or the bare one where that cannot be opened: what stops, and
// what says what there is to stop, works all the same.
func (r *run) orBare() error {
	_, broken := r.gateway()
	if broken == nil || r.cfg.Bare == nil {
		return broken
	}
	gateway, err := r.cfg.Bare()
	if err != nil {
		return errors.Join(err, broken)
	}
	r.opened = gateway
	r.output.warnAnyway("this is not on record, since the gateway cannot be opened: " + aai.AsError(broken).Message)
	return nil
}

func newStart(r *run) *cobra.Command {
	var which haltFlags
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Let run again what was stopped",
		Long: "Lets calls run again that `" + program + " stop` stopped: without a flag what stopped everything. A caller or a call\n" +
			"that was stopped alone stays so, until it is named. Whoever wants that is asked in a window, or for their passphrase.",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			result, err := r.own(cmd.Context(), "start", which.args())
			if err != nil {
				return err
			}
			return r.output.show(result.Data, func() error {
				shown, err := view[struct{ Started, Stopped []halts }](result.Data)
				if err != nil {
					return err
				}
				for _, h := range shown.Started {
					r.output.raw("Started again: " + h.what() + ".\n")
				}
				for _, h := range shown.Stopped {
					if h.Call == "" {
						r.output.note("Still stopped: " + h.what() + "; to start that again: " + h.again())
					}
				}
				return nil
			})
		},
	}
	which.add(cmd)
	return cmd
}

func newRunning(r *run) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:               "running",
		Short:             "Show what runs now, and what is stopped",
		Args:              operands(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.orBare(); err != nil {
				return err
			}
			version, err := r.running(cmd.Context(), nil)
			for watch && err == nil {
				version, err = r.running(cmd.Context(), map[string]any{"after": version, "wait": 30})
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "show it again when it has changed, until it is interrupted")
	return cmd
}

// running shows what runs, and returns the version of that.
func (r *run) running(ctx context.Context, args map[string]any) (version string, err error) {
	result, err := r.own(ctx, "running", args)
	if err != nil {
		return "", err
	}
	shown, err := view[struct {
		Stops      []halts
		Unreadable string
		More       int
		Version    string
	}](result.Data)
	if err != nil || args != nil && args["after"] == shown.Version {
		return shown.Version, err
	}
	s, err := r.sheet(ctx, "running", result.Data)
	if err != nil {
		return "", err
	}
	return shown.Version, r.output.show(result.Data, func() error {
		r.output.showSheet(s, nil, nil)
		if len(s.rows) == 0 {
			r.output.note("Nothing runs.")
		}
		if shown.More > 0 {
			r.output.note("There are more calls than are shown.")
		}
		for _, h := range shown.Stops {
			r.output.note("Stopped: " + h.what() + ".")
		}
		if shown.Unreadable != "" {
			r.output.note("What is stopped cannot be read, so everything is: " + aai.CleanText(shown.Unreadable, maxLine))
		}
		return nil
	})
}
