package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

func newDiscover(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:   "discover [address]",
		Short: "Find the app of a web site, or all integrations with apps of this computer",
		Long: "Asks the site at the address, such as https://example.com or example.com, for its\n" +
			"aai.json, and shows its app's tools, how to call them, and what else the site\n" +
			"publishes for programs. Without an address it searches this computer for integrations\n" +
			"with its apps, and shows the use and the setup of each. It only searches: no\n" +
			"program is started or called, and nothing is switched on.",
	}, toolCommand{
		tool: "discover", operands: "[url]", prepare: prepareDiscovery, show: showDiscovered,
		flags: []toolFlag{{"name=", "", "from now on call the site by this `name`, such as jira"}},
	})
}

// prepareDiscovery asks for the hints of a site, except to name it: a site gets a name for the sake
// of its app.
func prepareDiscovery(c *toolCall) error {
	name := c.cmd.Flag("name")
	switch {
	case c.args["url"] == nil && name.Changed:
		return usage(c.cmd, "--name needs the address of the site to name")
	case c.args["url"] != nil && name.Value.String() == "":
		c.args["hints"] = true
	}
	return nil
}

// showDiscovered names the site if --name is set, and shows its app. Without an address it shows
// the integrations of this computer.
func showDiscovered(r *run, c *toolCall) error {
	if c.args["url"] == nil {
		return inRows(showIntegrations)(r, c)
	}
	if name := c.cmd.Flag("name").Value.String(); name != "" {
		args := map[string]any{"name": name, "url": c.args["url"]}
		if _, err := r.callBuiltin(c.cmd.Context(), "discover_name", args); err != nil {
			return err
		}
	}
	return r.output.show(guideData(c.result), func() error {
		r.output.lines(asCommands(c.result.Text))
		if c.result.Warning != "" {
			r.output.warn(c.result.Warning)
		}
		return nil
	})
}

// showIntegrations lists the integrations of this computer's apps.
func showIntegrations(r *run, s *answerTable, _ *toolCall) {
	r.output.showAnswerTable(s, map[string]func(*jsonNode) string{"app": integrationName}, integrationDetails)
	r.output.note(fmt.Sprintf("%d integrations were found in %s ms. Nothing was started, called or switched on.", len(s.rows), memberText(s.answer, "took_ms")))
	if slices.ContainsFunc(s.rows, func(way *jsonNode) bool { return isTrue(way, "new") }) {
		r.output.note("* a scan of a running gateway found it within the last week, and nothing was switched on")
	}
	for _, silent := range textsOf(s.answer, "silent") {
		r.output.note("did not answer in time: " + silent)
	}
	for _, remark := range textsOf(s.answer, "notes") {
		r.output.note(remark)
	}
}

// integrationName returns the name of an integration's app, marked with "*" if a scan found
// it lately, else "".
func integrationName(way *jsonNode) string {
	if isTrue(way, "new") {
		return "* " + memberText(way, "app")
	}
	return ""
}

// integrationDetails returns the lines below an integration's row: its benefit, and how to
// get it unless it is in use, unchanged and not closed by the configuration.
func integrationDetails(way *jsonNode) []string {
	lines := []string{memberText(way, "gains")}
	if bus := memberText(way, "bus"); bus != "" {
		lines[0] += " (on the " + bus + " bus)"
	}
	if names := textsOf(way, "variables"); len(names) > 0 {
		lines = append(lines, "is given: "+strings.Join(names, ", "))
	}
	if memberText(way, "covered") != "" && !isTrue(way, "changed") && !isTrue(way, "closed") {
		return lines
	}
	return append(lines, "→ "+memberText(way, "get"))
}

// textsOf returns the strings of a list, each on one line.
func textsOf(n *jsonNode, name string) []string {
	var all []string
	for item := range n.Member(name).Items() {
		if item.Kind == jsontree.Text {
			all = append(all, aai.CleanLabel(item.Text, maxQuestion))
		}
	}
	return all
}
