package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func newHistory(r *run) *cobra.Command {
	var calls callFlags
	var before string
	var limit int
	cmd := &cobra.Command{
		Use:               "history",
		Short:             "Show what was called, newest first",
		Args:              operands(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			args, err := calls.args()
			if err != nil {
				return usage(cmd, "%v", err)
			}
			if limit < 0 {
				return usage(cmd, "--limit %d: expected a number of calls", limit)
			}
			if before != "" {
				args["before"] = before
			}
			if limit > 0 {
				args["limit"] = limit
			}
			return r.history(cmd.Context(), args, calls.call != "")
		},
	}
	calls.add(r, cmd)
	cmd.Flags().StringVar(&before, "before", "", "only calls older than the `call` with this id: the next page")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most this many calls")
	return cmd
}

// callFlags say which calls are meant.
type callFlags struct{ app, tool, caller, result, since, until, call string }

func (f *callFlags) add(r *run, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.app, "app", "", "only calls to this `app`")
	flags.StringVar(&f.tool, "tool", "", "only calls of this `tool`")
	flags.StringVar(&f.caller, "caller", "", "only calls by this `caller`")
	flags.StringVar(&f.result, "result", "", "only calls that ended so: ok, or an error's `code`")
	flags.StringVar(&f.since, "since", "", "only calls after a `time`: 90m, 12h, 7d or RFC 3339")
	flags.StringVar(&f.until, "until", "", "only calls before a `time`")
	flags.StringVar(&f.call, "call", "", "the `call` with this id, whole")
	completeWith(cmd, "app", r.completeApp)
	complete(cmd, "result", append([]string{"ok"}, codeNames()...)...)
}

// args are the flags as the tools take them.
func (f *callFlags) args() (map[string]any, error) {
	since, err := instant("since", f.since, -1)
	if err != nil {
		return nil, err
	}
	until, err := instant("until", f.until, -1)
	if err != nil {
		return nil, err
	}
	return given(map[string]string{
		"app": f.app, "tool": f.tool, "caller": f.caller, "result": f.result, "since": since, "until": until, "call": f.call,
	}), nil
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
	Who     string  `json:"identity,omitempty"`
	App     string  `json:"app"`
	Tool    string  `json:"tool"`
	Target  string  `json:"target,omitempty"`
	On      string  `json:"on,omitempty"`
	Effect  string  `json:"effect"`
	Consent string  `json:"consent"`
	Result  string  `json:"result"`
	Message string  `json:"message"`
	MS      float64 `json:"ms"`
	Until   string  `json:"until,omitempty"`

	// Of refused calls that are one row: how many they are, and why.
	Count int            `json:"count,omitempty"`
	Codes map[string]int `json:"codes,omitempty"`

	Args   json.RawMessage `json:"args"`
	Answer json.RawMessage `json:"answer"`
}

// folded says how many calls a row stands for, and why they were refused.
func (c *pastCall) folded() string {
	if c.Count == 0 {
		return ""
	}
	var why []string
	for _, code := range slices.Sorted(maps.Keys(c.Codes)) {
		why = append(why, code+" "+strconv.Itoa(c.Codes[code]))
	}
	return strconv.Itoa(c.Count) + " calls: " + strings.Join(why, ", ")
}

func (r *run) history(ctx context.Context, args map[string]any, whole bool) error {
	result, err := r.own(ctx, "history", args)
	if err != nil {
		return err
	}
	r.output.warnAnyway(result.Warning)
	return r.output.show(result.Data, func() error {
		calls, err := view[[]pastCall](result.Data)
		if err != nil {
			return err
		}
		if whole {
			r.showCalls(calls)
			return nil
		}
		rows := make([][]string, 0, len(calls))
		for _, c := range calls {
			rows = append(rows, []string{
				r.output.shownTime(c.Time), c.Caller, cmp.Or(c.Target, c.App), c.Tool, c.Effect, c.Result,
				strconv.FormatFloat(c.MS, 'f', -1, 64), c.Consent, c.Call, cmp.Or(c.Message, c.folded()),
			})
		}
		r.output.table([]string{"TIME", "CALLER", "APP", "TOOL", "EFFECT", "RESULT", "MS", "CONSENT", "CALL", "MESSAGE"}, rows)
		if len(calls) == 0 {
			r.output.note(noSuchCall)
		}
		return nil
	})
}

const noSuchCall = "No such call is on record."

// showCalls writes all that is on record of calls, a line for each thing.
func (r *run) showCalls(calls []pastCall) {
	for _, c := range calls {
		for _, field := range []struct{ name, value string }{
			{"time", r.output.shownTime(c.Time)}, {"call", c.Call}, {"caller", c.Caller}, {"identity", c.Who}, {"app", c.App}, {"target", c.Target},
			{"on", c.On},
			{"tool", c.Tool}, {"effect", c.Effect}, {"consent", c.Consent}, {"args", string(c.Args)},
			{"result", c.Result}, {"refused", c.folded()}, {"until", r.output.shownTime(c.Until)}, {"message", c.Message}, {"answer", string(c.Answer)},
			{"ms", strconv.FormatFloat(c.MS, 'f', -1, 64)},
		} {
			if field.value != "" {
				r.output.lines(field.name + ": " + field.value)
			}
		}
	}
	if len(calls) == 0 {
		r.output.note(noSuchCall)
	}
}
