package cli

import (
	"cmp"
	"context"
	"strconv"

	"github.com/spf13/cobra"
)

func newHistory(r *run) *cobra.Command {
	var app, tool, caller, result, since string
	var limit int
	cmd := &cobra.Command{
		Use:               "history",
		Short:             "Show what was called, newest first",
		Args:              operands(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, err := instant("since", since, -1)
			if err != nil {
				return usage(cmd, "%v", err)
			}
			if limit < 0 {
				return usage(cmd, "--limit %d: expected a number of calls", limit)
			}
			args := given(map[string]string{"app": app, "tool": tool, "caller": caller, "result": result, "since": from})
			if limit > 0 {
				args["limit"] = limit
			}
			return r.history(cmd.Context(), args)
		},
	}
	cmd.Flags().StringVar(&app, "app", "", "only calls to this `app`")
	cmd.Flags().StringVar(&tool, "tool", "", "only calls of this `tool`")
	cmd.Flags().StringVar(&caller, "caller", "", "only calls by this `caller`")
	cmd.Flags().StringVar(&result, "result", "", "only calls that ended so: ok, or an error's `code`")
	cmd.Flags().StringVar(&since, "since", "", "only calls after a `time`: 90m, 12h, 7d or RFC 3339")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most this many calls")
	completeWith(cmd, "app", r.completeApp)
	complete(cmd, "result", append([]string{"ok"}, codeNames()...)...)
	return cmd
}

// given returns the filters that are not empty.
func given(filters map[string]string) map[string]any {
	args := make(map[string]any, len(filters))
	for name, value := range filters {
		if value != "" {
			args[name] = value
		}
	}
	return args
}

// pastCall is what is shown of a call that was made.
type pastCall struct {
	Time    string  `json:"time"`
	Call    string  `json:"call"`
	Caller  string  `json:"caller"`
	App     string  `json:"app"`
	Tool    string  `json:"tool"`
	Target  string  `json:"target,omitempty"`
	Effect  string  `json:"effect"`
	Consent string  `json:"consent"`
	Result  string  `json:"result"`
	Message string  `json:"message"`
	MS      float64 `json:"ms"`
}

func (r *run) history(ctx context.Context, args map[string]any) error {
	result, err := r.own(ctx, "history", args)
	if err != nil {
		return err
	}
	return r.output.show(result.Data, func() error {
		calls, err := view[[]pastCall](result.Data)
		if err != nil {
			return err
		}
		rows := make([][]string, 0, len(calls))
		for _, c := range calls {
			rows = append(rows, []string{
				r.output.shownTime(c.Time), c.Caller, cmp.Or(c.Target, c.App), c.Tool, c.Effect, c.Result,
				strconv.FormatFloat(c.MS, 'f', -1, 64), c.Consent, c.Call, c.Message,
			})
		}
		r.output.table([]string{"TIME", "CALLER", "APP", "TOOL", "EFFECT", "RESULT", "MS", "CONSENT", "CALL", "MESSAGE"}, rows)
		if len(calls) == 0 {
			r.output.note("No such call is on record.")
		}
		return nil
	})
}
