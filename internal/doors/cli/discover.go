package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

func newDiscover(r *run) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "discover [address]",
		Short: "Find the app of a web site, or all integrations with apps of this computer",
		Long: "Asks the site at the address, such as https://example.com or example.com, for its\n" +
			"aai.json, and shows its app's tools, how to call them, and what else the site\n" +
			"publishes for programs. Without an address it searches this computer for integrations\n" +
			"with its apps, and shows the use and the setup of each. It only searches: no\n" +
			"program is started or called, and nothing is switched on.",
		Args: operands(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && cmd.Flags().Changed("name") {
				return usage(cmd, "--name needs the address of the site to name")
			}
			return r.discover(cmd.Context(), args, name)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "from now on call the site by this `name`, such as jira")
	return cmd
}

// discover finds the app at the address, and stores name as the site's name if it is not
// empty. Without an address it lists the integrations of this computer.
func (r *run) discover(ctx context.Context, address []string, name string) error {
	if len(address) == 0 {
		return r.discoverHere(ctx)
	}
	asked := map[string]any{"url": address[0]}
	if name == "" { // a site gets a name for the sake of its app
		asked["hints"] = true
	}
	result, err := r.callBuiltin(ctx, "discover", asked)
	if err != nil {
		return err
	}
	if name != "" {
		if _, err := r.callBuiltin(ctx, "discover_name", map[string]any{"name": name, "url": address[0]}); err != nil {
			return err
		}
	}
	return r.output.show(guideData(result), func() error {
		r.output.lines(result.Text)
		if result.Warning != "" {
			r.output.note("warning: " + result.Warning)
		}
		return nil
	})
}

// discoverHere lists the integrations of this computer's apps.
func (r *run) discoverHere(ctx context.Context) error {
	result, err := r.callBuiltin(ctx, "discover", nil)
	if err != nil {
		return err
	}
	s, err := r.readTable(ctx, "discover", result.Data)
	if err != nil {
		return err
	}
	return r.output.show(result.Data, func() error {
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
		return nil
	})
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
