package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

func newSearch(r *run) *cobra.Command {
	var app string
	var limit int
	cmd := &cobra.Command{
		Use:   "search [word]...",
		Short: "Find tools by words, or list those that you use",
		Long: "Finds the tools of all apps that match the words, the best match first,\n" +
			"each with a sample call. Without words it lists the used tools, the most used first.",
		Example: "  aai-gateway search set the volume\n  aai-gateway search 打开文件夹",
		Args:    operands(0, -1),
		RunE: func(cmd *cobra.Command, words []string) error {
			if limit < 0 || limit > 50 {
				return usage(cmd, "--limit %d: expected 1 to 50 tools", limit)
			}
			args := nonEmpty(map[string]string{"words": strings.Join(words, " "), "app": app})
			if limit > 0 {
				args["limit"] = limit
			}
			return r.showText(cmd.Context(), "search", args)
		},
	}
	cmd.Flags().StringVar(&app, "app", "", "only tools of this `app`")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most this many tools")
	completeWith(cmd, "app", r.completeApp)
	return cmd
}

func newStats(r *run) *cobra.Command {
	var calls callFlags
	var byApp, byDay, byHour bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count calls, failures and durations",
		RunE: func(cmd *cobra.Command, _ []string) error {
			args, err := calls.args()
			if err != nil {
				return usage(cmd, "%v", err)
			}
			switch {
			case byDay:
				args["by"] = "day"
				return r.showCounts(cmd, "totals", args)
			case byHour:
				args["by"] = "hour"
				return r.showCounts(cmd, "totals", args)
			case byApp:
				args["by"] = "app"
			}
			return r.showCounts(cmd, "stats", args)
		},
	}
	calls.addSome(r, cmd)
	cmd.Flags().BoolVar(&byApp, "by-app", false, "a row for each app, and not for each tool")
	cmd.Flags().BoolVar(&byDay, "by-day", false, "a row for each day")
	cmd.Flags().BoolVar(&byHour, "by-hour", false, "a row for each hour")
	cmd.MarkFlagsMutuallyExclusive("by-app", "by-day", "by-hour")
	return cmd
}

// showCounts shows the counts that a tool returns.
func (r *run) showCounts(cmd *cobra.Command, tool string, args map[string]any) error {
	return r.showRows(cmd.Context(), tool, args, func(s *answerTable, _ *aai.Result) error {
		if len(s.rows) == 0 {
			r.output.note(noSuchCall)
			return nil
		}
		short := func(name string) func(*jsonNode) string {
			return func(row *jsonNode) string { return milliseconds(memberText(row, name)) }
		}
		r.output.showAnswerTable(s, map[string]func(*jsonNode) string{"p50_ms": short("p50_ms"), "p95_ms": short("p95_ms")}, nil)
		since := memberText(s.answer, "since")
		if since == "" {
			since = memberText(s.rows[0], "start")
		}
		r.output.note(countedText(memberText(s.answer, "calls"), "call") + " since " + r.output.shownTime(since) +
			", of which " + memberText(s.answer, "failures") + " failed.")
		return nil
	})
}

// milliseconds rounds a number of milliseconds to one decimal.
func milliseconds(number string) string {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return number
	}
	return strconv.FormatFloat(f, 'f', 1, 64)
}

func newRate(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "rate <app> [tool] <1-5>",
		Short: "Rate an app or a tool; searches rank it higher or lower",
		Args:  operands(2, 3),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			return r.completeAppTool(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			last := args[len(args)-1]
			stars, err := strconv.Atoi(last)
			if err != nil || stars < 1 || stars > 5 {
				return usage(cmd, "%q is no rating: expected a number from 1, bad, to 5, good", last)
			}
			call := map[string]any{"app": args[0], "stars": stars}
			if len(args) == 3 {
				call["tool"] = args[1]
			}
			return r.showText(cmd.Context(), "rate", call)
		},
	}
}

// countedText is counted for a number in text form.
func countedText(number, thing string) string {
	n, err := strconv.Atoi(number)
	if err != nil {
		return number + " " + thing + "s"
	}
	return counted(n, thing)
}
