package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

func newSearch(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:   "search [word]...",
		Short: "Find tools by words, or list those that you use",
		Long: "Finds the tools of all apps that match the words, the best match first,\n" +
			"each with a sample call. Without words it lists the used tools, the most used first.",
		Example: "  aai-gateway search set the volume\n  aai-gateway search 打开文件夹",
	}, toolCommand{
		tool: "search", operands: "[words]...", show: showText,
		flags: []toolFlag{{"app", "", "only tools of this `app`"}, {"limit", 0, "at most this many tools"}},
		prepare: func(c *toolCall) error {
			if limit, _ := c.cmd.Flags().GetInt("limit"); limit < 0 || limit > 50 {
				return usage(c.cmd, "--limit %d: expected 1 to 50 tools", limit)
			}
			if words := strings.Join(c.cmd.Flags().Args(), " "); words != "" {
				c.args["words"] = words
			}
			return nil
		},
	})
}

func newStats(r *run) *cobra.Command {
	cmd := r.newToolCommand(&cobra.Command{Use: "stats", Short: "Count calls, failures and durations"}, toolCommand{
		tool: "stats", show: inRows(showCounts),
		flags: append(callFilter(),
			toolFlag{"by-app=", false, "a row for each app, and not for each tool"},
			toolFlag{"by-day=", false, "a row for each day"},
			toolFlag{"by-hour=", false, "a row for each hour"}),
		prepare: func(c *toolCall) error {
			for _, by := range []string{"app", "day", "hour"} {
				if c.isSet("by-" + by) {
					c.args["by"] = by
					if by != "app" {
						c.tool = "totals"
					}
				}
			}
			return setInstants(c)
		},
	})
	cmd.MarkFlagsMutuallyExclusive("by-app", "by-day", "by-hour")
	return cmd
}

// showCounts shows counts of calls.
func showCounts(r *run, s *answerTable, _ *toolCall) {
	if len(s.rows) == 0 {
		r.output.note(noSuchCall)
		return
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
	return r.newToolCommand(&cobra.Command{
		Use:               "rate <app> [tool] <1-5>",
		Short:             "Rate an app or a tool; searches rank it higher or lower",
		ValidArgsFunction: r.completeAppTool,
	}, toolCommand{tool: "rate", operands: "app [tool] stars", show: showText, prepare: func(c *toolCall) error {
		stars, err := strconv.Atoi(c.args["stars"].(string))
		if err != nil || stars < 1 || stars > 5 {
			return usage(c.cmd, "%q is no rating: expected a number from 1, bad, to 5, good", c.args["stars"])
		}
		c.args["stars"] = stars
		return nil
	}})
}

// countedText is counted for a number in text form.
func countedText(number, thing string) string {
	n, err := strconv.Atoi(number)
	if err != nil {
		return number + " " + thing + "s"
	}
	return aai.Count(n, thing)
}
