package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"aai"
)

func newGuide(r *run) *cobra.Command {
	var descriptor bool
	var group, after string
	cmd := &cobra.Command{
		Use:               "guide <app>",
		Short:             "Show what an app can do and how to call it",
		Args:              operands(1, 1),
		ValidArgsFunction: r.completeApp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if descriptor {
				return r.guide(cmd.Context(), "descriptor", map[string]any{"app": args[0]})
			}
			return r.guide(cmd.Context(), "guide", given(map[string]string{"app": args[0], "group": group, "after": after}))
		},
	}
	cmd.Flags().BoolVar(&descriptor, "descriptor", false, "show the app's aai.json as its author wrote it")
	cmd.Flags().StringVar(&group, "group", "", "only the tools of this `group`, of an app with very many")
	cmd.Flags().StringVar(&after, "after", "", "the page behind this `tool`")
	return cmd
}

// guide shows the text that one of the gateway's tools has on an app.
func (r *run) guide(ctx context.Context, tool string, args map[string]any) error {
	result, err := r.own(ctx, tool, args)
	if err != nil {
		return err
	}
	return r.output.show(guideData(result), func() error {
		r.output.lines(result.Text)
		return nil
	})
}

// guideData is a guide for programs: its data or, where there is none, its text,
// which for a descriptor is JSON itself.
func guideData(result *aai.Result) any {
	switch {
	case result.Data != nil:
		return result.Data
	case json.Valid([]byte(result.Text)):
		return json.RawMessage(result.Text)
	}
	return result.Text
}
