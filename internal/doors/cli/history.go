package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

func newHistory(r *run) *cobra.Command {
	var calls callFlags
	var before string
	var limit int
	cmd := &cobra.Command{
		Use:   "history [call]",
		Short: "List the calls, newest first, or show one call in full",
		Args:  operands(0, 1),
		RunE: func(cmd *cobra.Command, operand []string) error {
			if len(operand) > 0 {
				calls.call = operand[0]
			}
			if calls.call != "" {
				return r.story(cmd.Context(), calls.call)
			}
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
			return r.history(cmd.Context(), args)
		},
	}
	calls.add(r, cmd)
	cmd.Flags().StringVar(&calls.text, "text", "", "only calls whose record has all these `words`, or words that begin so")
	cmd.Flags().StringVar(&calls.parent, "parent", "", "only calls that this `call` made")
	cmd.Flags().StringVar(&before, "before", "", "only calls older than the `call` with this id: the next page")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most this many calls")
	cmd.AddCommand(newHistoryForget(r))
	return cmd
}

func newHistoryForget(r *run) *cobra.Command {
	var call, app string
	var all bool
	cmd := &cobra.Command{
		Use:   "forget",
		Short: "Delete stored answers of calls; the calls stay on record",
		RunE: func(cmd *cobra.Command, _ []string) error {
			args := nonEmpty(map[string]string{"call": call, "app": app})
			if all {
				args["all"] = true
			}
			if len(args) != 1 {
				return usage(cmd, "expected one of --call, --app and --all")
			}
			return r.showText(cmd.Context(), "history_forget", args)
		},
	}
	cmd.Flags().StringVar(&call, "call", "", "of the `call` with this id")
	cmd.Flags().StringVar(&app, "app", "", "of all calls to this `app`")
	cmd.Flags().BoolVar(&all, "all", false, "of all calls")
	completeWith(cmd, "app", r.completeApp)
	return cmd
}

// callFlags select calls.
type callFlags struct{ app, tool, caller, result, since, until, call, text, parent string }

func (f *callFlags) add(r *run, cmd *cobra.Command) {
	f.addSome(r, cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.result, "result", "", "only calls with this result: ok, or an error's `code`")
	flags.StringVar(&f.call, "call", "", "the `call` with this id, in full")
	complete(cmd, "result", append([]string{"ok"}, codeNames()...)...)
}

// addSome adds the flags that select calls, except for those about results.
func (f *callFlags) addSome(r *run, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.app, "app", "", "only calls to this `app`")
	flags.StringVar(&f.tool, "tool", "", "only calls of this `tool`")
	flags.StringVar(&f.caller, "caller", "", "only calls by this `caller`")
	flags.StringVar(&f.since, "since", "", "only calls after a `time`: 90m, 12h, 7d or RFC 3339")
	flags.StringVar(&f.until, "until", "", "only calls before a `time`")
	completeWith(cmd, "app", r.completeApp)
}

// args returns the flags as arguments for the gateway's tools.
func (f *callFlags) args() (map[string]any, error) {
	since, err := parseInstant("since", f.since, -1)
	if err != nil {
		return nil, err
	}
	until, err := parseInstant("until", f.until, -1)
	if err != nil {
		return nil, err
	}
	return nonEmpty(map[string]string{
		"app": f.app, "tool": f.tool, "caller": f.caller, "result": f.result, "since": since, "until": until, "call": f.call, "text": f.text, "parent": f.parent,
	}), nil
}

// nonEmpty returns the filters that are not empty.
func nonEmpty(filters map[string]string) map[string]any {
	args := make(map[string]any, len(filters))
	for name, value := range filters {
		if value != "" {
			args[name] = value
		}
	}
	return args
}

// refusalCounts formats the number of refused calls in a row and their error codes.
func refusalCounts(call *jsonNode) string {
	count := memberText(call, "count")
	if count == "" {
		return ""
	}
	var why []string
	for code := range call.Member("codes").Items() {
		why = append(why, code.Name+" "+code.Text)
	}
	slices.Sort(why)
	return countedText(count, "call") + ": " + strings.Join(why, ", ")
}

// targetText describes the element that a call acted on.
func targetText(call *jsonNode) string {
	on := call.Member("on")
	if on == nil {
		return ""
	}
	var h aai.TargetElement
	if json.Unmarshal(on.Raw(), &h) != nil {
		return ""
	}
	text := h.String()
	if h.UnknownEffect {
		text += "; its effect was not known beforehand"
	}
	return text
}

func (r *run) history(ctx context.Context, args map[string]any) error {
	result, err := r.callBuiltin(ctx, "history", args)
	if err != nil {
		return err
	}
	r.output.warnAnyway(result.Warning)
	return r.output.show(result.Data, func() error {
		s, err := r.readTable(ctx, "history", result.Data)
		if err != nil {
			return err
		}
		r.output.showAnswerTable(s, map[string]func(*jsonNode) string{
			"app":     func(call *jsonNode) string { return memberText(call, "target") },
			"on":      targetText,
			"message": func(call *jsonNode) string { return cmp.Or(memberText(call, "message"), refusalCounts(call)) },
		}, nil)
		if len(s.rows) == 0 {
			r.output.note(noSuchCall)
		}
		return nil
	})
}

const noSuchCall = "No such call is on record."

// story shows everything that the journal holds about one call.
func (r *run) story(ctx context.Context, call string) error {
	result, err := r.callBuiltin(ctx, "story", map[string]any{"call": call})
	if err != nil {
		return err
	}
	r.output.warnAnyway(result.Warning)
	return r.output.show(result.Data, func() error {
		s, err := r.readTable(ctx, "story", result.Data)
		if err != nil {
			return err
		}
		r.showCall(s.answer.Member("call"))
		if kept := s.answer.Member("answer"); kept != nil {
			r.output.lines("answer: " + string(kept.Raw()))
		}
		if lost := memberText(s.answer, "answer_lost"); lost != "" {
			r.output.lines("answer: it cannot be shown: " + lost)
		}
		r.output.lines("")
		r.output.showAnswerTable(s, nil, nil)
		r.showRelated(s.answer)
		return nil
	})
}

// showRelated names the parent of the call and the calls that it made.
func (r *run) showRelated(story *jsonNode) {
	line := func(what string, c *jsonNode) {
		r.output.lines(what + ": " + memberText(c, "call") + "  " + cmp.Or(memberText(c, "target"), memberText(c, "app")) + " " + memberText(c, "tool") + "  " + memberText(c, "result"))
	}
	if parent := story.Member("parent"); parent != nil {
		line("made by", parent)
	}
	if children := story.Member("children"); children != nil {
		for c := range children.Items() {
			line("made", c)
		}
	}
	if more := memberText(story, "children_omitted"); more != "" {
		r.output.lines("and " + more + " more calls that it made")
	}
}

// showCall writes the journal's fields of a call, one on each line.
func (r *run) showCall(c *jsonNode) {
	for _, name := range []string{
		"time", "call", "parent", "door", "caller", "identity", "app", "target", "on", "tool", "effect", "consent", "args",
		"result", "refused", "until", "message", "answer", "ms",
	} {
		value := memberText(c, name)
		switch name {
		case "time", "until":
			value = r.output.shownTime(value)
		case "args", "answer":
			if n := c.Member(name); n != nil {
				value = string(n.Raw())
			}
		case "on":
			value = targetText(c)
		case "refused":
			value = refusalCounts(c)
		}
		if value != "" {
			r.output.lines(name + ": " + value)
		}
	}
}
