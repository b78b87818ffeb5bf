package cli

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

func newHistory(r *run) *cobra.Command {
	cmd := r.newToolCommand(&cobra.Command{
		Use:   "history [call]",
		Short: "List the calls, newest first, or show one call in full",
	}, toolCommand{
		tool: "history", operands: "[call]", show: showHistory,
		flags: append(callFlags(),
			toolFlag{"text", "", "only calls whose record has all these `words`, or words that begin so"},
			toolFlag{"parent", "", "only calls that this `call` made"},
			toolFlag{"before", "", "only calls older than the `call` with this id: the next page"},
			toolFlag{"limit", 0, "at most this many calls"}),
		prepare: func(c *toolCall) error {
			if operand := c.cmd.Flags().Arg(0); operand != "" {
				c.args["call"] = operand
			}
			dropEmpty(c)
			if id, given := c.args["call"]; given {
				c.tool, c.args = "story", map[string]any{"call": id}
				return nil
			}
			if err := setInstants(c); err != nil {
				return err
			}
			if limit, _ := c.cmd.Flags().GetInt("limit"); limit < 0 {
				return usage(c.cmd, "--limit %d: expected a number of calls", limit)
			}
			return nil
		},
	})
	completeResult(cmd)
	cmd.AddCommand(r.newToolCommand(&cobra.Command{
		Use:   "forget",
		Short: "Delete stored answers of calls; the calls stay on record",
	}, toolCommand{
		tool: "history_forget", show: showText,
		flags: []toolFlag{
			{"call", "", "of the `call` with this id"},
			{"app", "", "of all calls to this `app`"},
			{"all", false, "of all calls"},
		},
		prepare: func(c *toolCall) error {
			if len(c.args) != 1 {
				return usage(c.cmd, "expected one of --call, --app and --all")
			}
			return nil
		},
	}))
	return cmd
}

// callFilter returns the flags that select calls, except for those about results.
func callFilter() []toolFlag {
	return []toolFlag{
		{"app", "", "only calls to this `app`"},
		{"tool", "", "only calls of this `tool`"},
		{"caller", "", "only calls by this `caller`"},
		{"since", "", "only calls after a `time`: 90m, 12h, 7d or RFC 3339"},
		{"until", "", "only calls before a `time`"},
	}
}

// callFlags returns the flags that select calls.
func callFlags() []toolFlag {
	return append(callFilter(),
		toolFlag{"result", "", "only calls with this result: ok, or an error's `code`"},
		toolFlag{"call", "", "the `call` with this id, in full"})
}

func completeResult(cmd *cobra.Command) {
	complete(cmd, "result", append([]string{"ok"}, codeNames()...)...)
}

// setInstants converts the times of callFilter.
func setInstants(c *toolCall) error {
	for _, flag := range []string{"since", "until"} {
		text, _ := c.args[flag].(string)
		at, err := parseInstant(flag, text, -1)
		if err != nil {
			return usage(c.cmd, "%v", err)
		}
		if at != "" {
			c.args[flag] = at
		}
	}
	return nil
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

// showHistory shows calls, or all that the journal holds about one call.
func showHistory(r *run, c *toolCall) error {
	r.output.warnAnyway(c.result.Warning)
	if c.tool == "story" {
		return inRows(showStory)(r, c)
	}
	return inRows(showCalls)(r, c)
}

func showCalls(r *run, s *answerTable, _ *toolCall) {
	r.output.showAnswerTable(s, map[string]func(*jsonNode) string{
		"app":     func(call *jsonNode) string { return memberText(call, "target") },
		"on":      targetText,
		"message": func(call *jsonNode) string { return cmp.Or(memberText(call, "message"), refusalCounts(call)) },
	}, nil)
	if len(s.rows) == 0 {
		r.output.note(noSuchCall)
	}
}

const noSuchCall = "No such call is on record."

func showStory(r *run, s *answerTable, _ *toolCall) {
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
